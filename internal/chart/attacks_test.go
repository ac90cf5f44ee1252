//go:build linux && !race

package chart_test

import (
	"fmt"
	"maps"
	"strings"
	"testing/fstest"
)

// attacks are charts that would take all memory, or all time, if nobody kept them from it.
// Before functions were charged, the first ones took 7 GB.
func attacks() map[string]func() fstest.MapFS {
	all := memoryAttacks()
	maps.Copy(all, valueAttacks())
	for name, text := range map[string]string{
		"time: a loop": `{{ range 1000000000000 }}{{ end }}`,
		"time: loops that count": `{{ $n := 0 }}{{ range until 100000 }}{{ range until 100000 }}{{ $n = add $n 1 ` +
			`}}{{ end }}{{ end }}`,
		"time: templates":    `{{ define "a" }}{{ end }}{{ range 1000000000000 }}{{ template "a" }}{{ end }}`,
		"time: keys":         `{{ range until 100000 }}{{ $x := genPrivateKey "rsa" }}{{ end }}`,
		"time: a slow key":   `{{ range until 100000 }}{{ $x := genPrivateKey "dsa" }}{{ end }}`,
		"time: bcrypt":       `{{ range until 100000 }}{{ $x := bcrypt "a" }}{{ end }}`,
		"time: derived keys": `{{ range until 100000 }}{{ $x := derivePassword 1 "long" "a" "b" "c" }}{{ end }}`,
		"time: tpl doubles": `{{ define "a" }}{{ if lt (len .) 60 }}{{ tpl "{{ include \"a\" (append . 1) ` +
			`}}{{ include \"a\" (append . 1) }}" . }}{{ end }}{{ end }}{{ include "a" list }}`,
		"steps: uniq":           `{{ $x := uniq (until 1000000) }}`,
		"steps: without":        `{{ $n := until 200000 }}{{ $x := without $n $n }}{{ $x = uniq $n }}`,
		"steps: trimAll":        `{{ $x := repeat 16000000 "é" | trunc 16000000 }}{{ $y := trimAll $x $x }}`,
		"steps: regex":          `{{ $x := regexMatch (repeat 1000 "(a*)*") (repeat 10000000 "a") }}`,
		"steps: a long product": `{{ $x := mulf ` + strings.Repeat("1.2345678901234567e300 ", 50_000) + ` }}`,
		"steps: has in itself": `{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $y := ` +
			`has $x (list $x) }}{{ $y = deepEqual $x (list $x $x) }}`,
		"steps: untilStep for ever": `{{ $x := untilStep 0 9223372036854775807 9223372036854775806 }}`,
	} {
		all[name] = func() fstest.MapFS { return template(text) }
	}
	return all
}

func memoryAttacks() map[string]func() fstest.MapFS {
	all := map[string]func() fstest.MapFS{}
	grow := `{{ $x := "%s" }}{{ range until 24 }}{{ if lt (len $x) 8000000 }}{{ $x = printf "%%s%%s" $x $x ` +
		`}}{{ end }}{{ end }}`
	for name, text := range map[string]string{
		"lists in dictionaries": `{{ $d := dict }}{{ range $i := until 1000000 }}{{ $_ := set $d ` +
			`(toString $i) (list $i (list $i) (dict "a" (list $i))) }}{{ end }}`,
		"lists in dictionaries of many loops": `{{ $d := dict }}{{ range $j := until 1000 }}{{ range $i := until ` +
			`100000 }}{{ $_ := set $d (printf "%d-%d" $i $j) (list 1 2 3 4 5 6 7 8) }}{{ end }}{{ end }}`,
		"wrapWith": `{{ $x := wrapWith 1 (repeat 10000 "x") (repeat 1000000 "y") }}`,
		"wrap":     `{{ $x := wrap 1 (repeat 16000000 "y") }}`,
		"split":    `{{ $x := split "," (repeat 16000000 ",") }}`,
		"split in pieces": `{{ $l := list }}{{ range until 100 }}{{ $l = append $l (split "," ` +
			`(repeat 900000 ",")) }}{{ end }}`,
		"splitList": `{{ $l := list }}{{ range until 100 }}{{ $l = append $l (splitList "," ` +
			`(repeat 900000 ",")) }}{{ end }}`,
		"splitn":       `{{ $x := splitn "," 15000000 (repeat 16000000 ",") }}`,
		"regexSplit":   `{{ $x := regexSplit "," (repeat 16000000 ",") -1 }}`,
		"regexFindAll": `{{ $x := regexFindAll "a?" (repeat 16000000 ",") -1 }}`,
		"regexReplaceAll": `{{ $x := regexReplaceAll "(a*)" (repeat 8000000 "a") ` +
			`"$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1" }}`,
		"a pattern":            `{{ $x := regexMatch (repeat 20000 "(a{1000})") "x" }}`,
		"a pattern of classes": `{{ $x := regexMatch (repeat 100000 "\\pL|\\PN") "x" }}`,
		"texts in a list": `{{ $l := list }}{{ range until 10000 }}{{ $l = append $l (repeat ` +
			`1000000 "x") }}{{ end }}`,
		"a list that is copied": `{{ $l := list }}{{ range until 1000000 }}{{ $l = append ` +
			`$l . }}{{ end }}`,
		"copies": `{{ $x := dict "a" (until 10000) }}{{ range until 10000 }}{{ $x = dict ` +
			`"a" $x "b" (deepCopy $x) }}{{ end }}`,
		"merged": `{{ $d := dict }}{{ range $i := until 100000 }}{{ $d = merge $d (dict ` +
			`(toString $i) (dict "a" (list $i))) }}{{ end }}`,
		"deep and wide": `{{ $x := until 100000 }}{{ range until 400 }}{{ $x = list $x }}{{ end ` +
			`}}{{ $y := toYaml $x }}`,
		"deep and wide, pretty": `{{ $x := until 100000 }}{{ range until 400 }}{{ $x = list $x }}{{ end ` +
			`}}{{ $y := toPrettyJson $x }}{{ $y = toYamlPretty $x }}`,
		"long paths": `{{ $x := dict "a" 1 }}{{ range until 400 }}{{ $x = dict (repeat 10000 ` +
			`"k") $x }}{{ end }}{{ $y := toToml $x }}`,
		"many values": `{{ $x := until 400000 }}{{ $y := toYaml $x }}`,
		"a width": `{{ $x := printf "%999999d%999999d" 1 1 }}{{ $x = printf "%900000d" ` +
			`(until 100000) }}`,
		"an index":             `{{ $x := printf (repeat 1000 "%[1]s") (repeat 1000000 "x") }}`,
		"a width from outside": `{{ $x := printf "%*d" 1000000 (until 100000) }}`,
		"a key": `{{ $x := list "x" }}{{ range until 60 }}{{ $x = list $x $x }}{{ end ` +
			`}}{{ $d := dict $x 1 }}`,
		"quoted": fmt.Sprintf(grow, `\x01`) + `{{ $y := quote $x }}{{ $z := quote $y }}`,
		"escaped": fmt.Sprintf(grow, `<`) +
			`{{ $y := js $x }}{{ $z := html $y }}{{ $u := urlquery $z }}`,
		"as JSON": fmt.Sprintf(grow, `<`) +
			`{{ $l := list }}{{ range until 1000 }}{{ $l = append $l (toJson (list $x)) }}{{ end }}`,
		"as YAML": fmt.Sprintf(grow, `\x01a `) +
			`{{ $l := list }}{{ range until 1000 }}{{ $l = append $l (toYaml (list $x)) }}{{ end }}`,
		"read as JSON": `{{ $x := fromJson (printf "{\"a\":[%s1]}" (repeat 1500000 "{\"\":1},")) }}`,
		"read as JSON again and again": `{{ $l := list }}{{ range until 100 }}{{ $l = append $l (fromJsonArray ` +
			`(printf "[%s1]" (repeat 150000 "{\"\":1},"))) }}{{ end }}`,
		"read as YAML": `{{ $x := fromYamlArray (repeat 1400000 "- 1\n") }}`,
		"read as YAML again and again": `{{ $l := list }}{{ range until 100 }}{{ $l = append $l (fromYamlArray ` +
			`(repeat 50000 "- {a: 1}\n")) }}{{ end }}`,
		"read with aliases": `{{ $l := list }}{{ range until 1000 }}{{ $l = append $l (fromYaml (printf ` +
			`"a: &a [%s1]\nb: [%s*a]" (repeat 300 "1,") (repeat 300 "*a,"))) }}{{ end }}`,
		"read as TOML": `{{ $x := fromToml (printf "[a%s]\n%s" (repeat 20000 ".a") (repeat ` +
			`20000 "b=1\n")) }}`,
		"what templates make": `{{ define "a" }}{{ repeat 8000000 "x" }}{{ end }}{{ $l := list }}{{ range ` +
			`until 1000 }}{{ $l = append $l (include "a" $) }}{{ end }}`,
		"tpl of many actions": `{{ $x := tpl (repeat 400000 "{{ 1 }}") . }}`,
		"tpl of many templates": `{{ range $i := until 10000 }}{{ $x := tpl (printf "%s{{ define \"a%d\" }}x{{ ` +
			`end }}" (repeat 1000 "{{ 1 }}") $i) $ }}{{ end }}`,
		"tpl inside itself": `{{ define "a" }}{{ tpl "{{ include \"a\" . }}" . }}{{ end }}{{ ` +
			`include "a" . }}`,
		"deep blocks": `{{ define "a" }}` + strings.Repeat("{{ if true }}", 190) +
			`{{ include "a" . }}` + strings.Repeat("{{ end }}", 190) + `{{ end }}{{ include "a" . }}`,
		"a time": `{{ $x := now.Format (repeat 2000000 "January ") }}{{ $l := list }}{{ range until 1000 ` +
			`}}{{ $l = append $l (now.Format (repeat 200000 "January ")) }}{{ end }}`,
		"a time, piped": `{{ $x := repeat 2000000 "January " | now.Format }}`,
		"chunks": `{{ $l := list }}{{ range until 100 }}{{ $l = append $l (chunk 1 (until ` +
			`900000)) }}{{ end }}`,
		"sequences":           `{{ $l := list }}{{ range until 1000 }}{{ $l = append $l (seq 1 900000) }}{{ end }}`,
		"a sequence in steps": `{{ $x := seq 0 1 90000000 }}`,
		"random": `{{ $l := list }}{{ range until 1000 }}{{ $l = append $l (randAlphaNum ` +
			`900000) }}{{ end }}`,
		"objects": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx:\n" +
			"{{ repeat 700000 \"- {a: 1}\\n\" }}",
		"small objects": "{{ range $i := until 9900 }}apiVersion: v1\nkind: ConfigMap\n" +
			"metadata: {name: a{{ $i }}}\nx: [{{ repeat 70 \"a,\" }}]\n---\n{{ end }}",
		"written":  `{{ range until 1000 }}{{ repeat 100000 "x" }}{{ end }}`,
		"versions": `{{ $x := semverCompare (repeat 1000000 "1.0.0 || ") "1.2.3" }}`,
		"words": fmt.Sprintf(grow, `aB_`) +
			`{{ $a := camelcase $x }}{{ $b := snakecase $x }}{{ $c := shuffle $x }}{{ $d := title $x }}{{ $e := ` +
			`initials $x }}{{ $f := nospace $x }}`,
		"YAML of the values": `{{ $_ := set .Values "a" (until 900000) }}{{ $x := .Values.YAML }}`,
	} {
		all[name] = func() fstest.MapFS { return template(text) }
	}
	addFiles(all)
	return all
}

// addFiles adds the attacks by what a chart holds.
func addFiles(all map[string]func() fstest.MapFS) {
	large := func(n int, name, line, text string) func() fstest.MapFS {
		return func() fstest.MapFS {
			files := map[string]string{"templates/a.yaml": text}
			for i := range n {
				files[fmt.Sprintf(name, i)] = strings.Repeat(line, 4<<20/len(line))
			}
			return made(files)
		}
	}
	all["files as a ConfigMap"] = large(12, "files/%d", "<\n", `{{ $x := .Files.AsConfig }}`)
	all["some files as Secrets"] = large(12, "files/%d", "<\n", `{{ $x := (.Files.Glob "files/**").AsSecrets }}`)
	all["lines of files"] = large(12, "files/%d", "\n",
		`{{ $l := list }}{{ range until 1000 }}{{ $l = append $l ($.Files.Lines "files/1") }}{{ end }}`)
	all["files"] = large(12, "files/%d", "<",
		`{{ $l := list }}{{ range until 1000 }}{{ $l = append $l ($.Files.Get "files/1") }}{{ end }}`)
	all["files, written"] = large(12, "files/%d", "<", `{{ toYaml .Files }}{{ .Files }}`)
	all["templates of actions"] = large(12, "templates/%d.yaml", "{{1}}", "")
	all["templates of arguments"] = large(12, "templates/%d.yaml", "{{print "+strings.Repeat("1 ", 1000)+"}}", "")
	all["templates of blocks"] = large(1, "templates/%d.yaml", "{{if 1}}", "")
	all["templates of parentheses"] = func() fstest.MapFS { return template("{{ print " + strings.Repeat("(", 4<<20)) }
	all["a schema"] = func() fstest.MapFS {
		return made(map[string]string{"values.schema.json": `{"enum": [` + strings.Repeat(`{"":1},`, 600_000) + `1]}`})
	}
	all["templates that keep"], all["values of subcharts"], all["aliases of aliases"] = keepers, subcharts, aliases
}

// keepers is a chart whose templates each keep a text.
func keepers() fstest.MapFS {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("templates/%d.yaml", i)] = fmt.Sprintf(`{{ $_ := set .Values "x%d" (repeat 10000000 "x") }}`,
			i)
	}
	return made(files)
}

// subcharts is a chart of subcharts, each of which has as many values as it may.
func subcharts() fstest.MapFS {
	subcharts := map[string]string{}
	for i := range 12 {
		subcharts[fmt.Sprintf("charts/c%d/Chart.yaml", i)] = fmt.Sprintf("apiVersion: v2\nname: c%d\nversion: 1.0.0\n",
			i)
		subcharts[fmt.Sprintf("charts/c%d/values.yaml", i)] = "a: [" + strings.Repeat("1,", 700_000) + "1]"
	}
	return made(subcharts)
}

// aliases is a chart with ten times the same subchart, which has ten times the same, and so on.
func aliases() fstest.MapFS {
	many, path := map[string]string{}, ""
	for i := range 16 {
		text := fmt.Sprintf("apiVersion: v2\nname: c%d\nversion: 1.0.0\ndependencies:\n", i)
		for j := range 10 {
			text += fmt.Sprintf("- {name: c%d, version: 1.0.0, alias: a%d}\n", i+1, j)
		}
		many[path+"Chart.yaml"] = text
		path += fmt.Sprintf("charts/c%d/", i+1)
	}
	many[path+"Chart.yaml"] = "apiVersion: v2\nname: c16\nversion: 1.0.0\n"
	return made(many)
}
