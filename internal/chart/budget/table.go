package budget

import "strings"

// Table has the bound of every function of templates by its name.
func Table() map[string]Bound {
	table := map[string]Bound{}
	for _, row := range rows() {
		for name := range strings.FieldsSeq(row.names) {
			table[name] = row.bound
		}
	}
	return table
}

type row struct {
	bound Bound
	names string
}

func rows() []row {
	return append([]row{
		{nothing, `all any coalesce contains default empty first fail get getHostByName hasKey hasPrefix hasSuffix
			isAbs kindIs kindOf last mustFirst mustLast now osIsAbs randInt required substr ternary trim
			trimPrefix trimSuffix trunc typeIs typeIsLike typeOf unset dig berth_tick`},
		{said, `add add1 add1f atoi biggest ceil div eq float64 floor int int64 max maxf min minf mod mul ne round sub
			toDecimal
			toDate mustToDate dateModify date_modify mustDateModify must_date_modify`},
		{looped, "berth_range"},
		{small, `adler32sum ago duration durationRound hello htmlDate htmlDateInZone plural sha1sum sha256sum sha512sum
			unixEpoch uuidv4`},
		{charged, "include tpl berth_template berth_method berth_layout berth_path"},
		{asked, "lookup"},
		{decimals, "addf divf mulf subf"},
		{measured, "deepEqual has mustHas"},
		{entry, "set"},
		{keyed, "dict"},
		{counted(24, ofUntil), "until"},
		{counted(24, ofUntilStep), "untilStep"},
		{counted(128, ofSeq), "seq"},
		{
			counted(4, func(a Args) float64 { return a.number(0) }),
			"randAlpha randAlphaNum randAscii randNumeric randBytes",
		},
		{counted(ofString, ofSplit), "splitList"},
		{counted(ofEntry+4*word, ofSplit), "split"},
		{counted(ofEntry+4*word, ofSplitN), "splitn"},
		{list(ofItem), `list tuple append prepend push concat rest initial reverse keys values
			pluck chunk mustAppend mustPrepend mustPush mustRest mustInitial mustReverse mustChunk mustCompact
			compact`},
		{sliced, "slice mustSlice"},
		{list(ofEntry), "pick omit"},
		{compared, "uniq mustUniq without mustWithout"},
	}, texts()...)
}

// texts are the functions of texts.
func texts() []row {
	return []row{
		{text(2), `abbrev abbrevboth b64dec b64enc b32dec b32enc base clean dir ext initials lower nospace osBase
			osClean
			osDir osExt swapcase title untitle upper camelcase kebabcase snakecase regexQuoteMeta`},
		{text(5), "shuffle"},
		{text(8), "date dateInZone date_in_zone encryptAES decryptAES"},
		{text(100), "semver semverCompare urlParse buildCustomCert"},
		{printed(4), "urlJoin"},
		{printed(6), "print println html js urlquery quote squote cat toString"},
		{shown, "berth_out"},
		{formatted, "printf"},
		{repeated, "repeat"},
		{indented, "indent nindent"},
		{replaced, "replace"},
		{wrapped(0, -1, 1), "wrap"},
		{wrapped(0, 1, 2), "wrapWith"},
		{trimmed, "trimall trimAll"},
		{joined, "join sortAlpha toStrings"},
		{whole(6, 12, 100), "toJson mustToJson toRawJson mustToRawJson toPrettyJson mustToPrettyJson"},
		{whole(12, 24, 700), "toYaml toYamlPretty"},
		{withPaths, "toToml"},
		{whole(1, 0, 2*ofEntry), "deepCopy mustDeepCopy merge mustMerge mergeOverwrite mustMergeOverwrite"},
		{ofYAML, "fromYaml fromYamlArray"},
		{ofJSON, "fromJson fromJsonArray mustFromJson"},
		{ofTOML, "fromToml"},
		{regex(1, 0, nil), "regexMatch mustRegexMatch regexFind mustRegexFind"},
		{regex(1, 80, limited(2)), "regexFindAll mustRegexFindAll regexSplit mustRegexSplit"},
		{substituted(false), "regexReplaceAll mustRegexReplaceAll"},
		{substituted(true), "regexReplaceAllLiteral mustRegexReplaceAllLiteral"},
		{slow(1 << 20), `bcrypt htpasswd genPrivateKey genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey
			genSignedCert genSignedCertWithKey`},
		{slow(40 << 20), "derivePassword"},
	}
}
