package userstring

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Username is the username of somebody with that name elsewhere: the name itself, whatever characters it has. A name
// that no user string has room for, or that is not text, becomes its beginning and a hash; so does one that looks like
// that, or somebody could choose the username of another.
func Username(name string) string {
	fits := utf8.RuneCountInString(escapeUser(name)) <= maxUser || consistsOf(name, simple) && len(name) <= MaxLength
	if name != "" && utf8.ValidString(name) && fits && !isShortened(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimLeft(readable(name, 40)+shortened, ".") + hex.EncodeToString(sum[:20])
}

const (
	shortened = ".sha256-"
	maxUser   = MaxLength - 32 // there is to be room for a blueprint or a repository
)

func isShortened(name string) bool {
	at := strings.LastIndex("."+name, shortened)
	return at >= 0 && len(name)-at == len(shortened)-1+2*20 &&
		consistsOf(name[at+len(shortened)-1:], "0123456789abcdef")
}

// Owner is a username as it begins a canonical user string.
func Owner(username string) string { return UserString{User: username}.String() }

// OwnerLabel is the value of the label that says whose a workspace is, with which it is
// selected: no two usernames have the same. It is the username itself if that is legal.
func OwnerLabel(username string) string {
	if isLegalLabel(username) && !isMarked(username, labelHash) {
		return username
	}
	return marked(username, maxLabel, labelHash)
}

const (
	maxLabel  = 63
	labelHash = 20 // characters of five bits, which nobody finds another username for
	idHash    = 12
)

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
	simple = lowers + digits + "_-"
)

func isLegalLabel(text string) bool {
	const alphanumeric = lowers + digits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return text != "" && len(text) <= maxLabel && consistsOf(text, alphanumeric+"_.-") &&
		consistsOf(text[:1]+text[len(text)-1:], alphanumeric)
}

func consistsOf(text, characters string) bool {
	return strings.Trim(text, characters) == ""
}

// prefix is the username in an ID. One of letters, digits, _ and - is told apart from others
// with the same label by the hash of the key alone, as other programs do it. Of the names
// that have other characters, too many have the same label for so short a hash.
func prefix(username string) string {
	const room = MaxIDLength - hashLength - 1
	if name := label(username, room); consistsOf(username, simple) && !isMarked(name, idHash) {
		return name
	}
	return marked(username, room, idHash)
}

// label makes a DNS-1035 label of a username.
func label(username string, length int) string {
	name := strings.Trim(strings.ReplaceAll(username, "_", "-"), "-")
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		name = "u-" + name
	}
	return strings.TrimRight(name[:min(len(name), length)], "-")
}

const mark = "--"

// marked is a DNS-1035 label of at most length characters: what can be read of a name, and
// a hash of so many characters.
func marked(name string, length, hash int) string {
	sum := sha256.Sum256([]byte(name))
	suffix := mark + strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:hash]
	return label(readable(name, length), length-len(suffix)) + suffix
}

// isMarked reports whether a name looks like one that marked has made.
func isMarked(name string, hash int) bool {
	at := len(name) - hash - len(mark)
	return at > 0 && name[at:at+len(mark)] == mark && consistsOf(name[at+len(mark):], digits+"abcdefghijklmnopqrstuv")
}

// readable is the beginning of a name in lower case, with a dash for what is neither a letter nor a digit of ASCII.
func readable(name string, length int) string {
	var b strings.Builder
	for _, r := range name {
		switch r = unicode.ToLower(r); {
		case b.Len() == length:
			return strings.TrimRight(b.String(), "-")
		case strings.ContainsRune(lowers+digits, r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimRight(b.String(), "-")
}

// isPlain is true for what stands in the USER of a canonical user string as it is. Letters
// that Unicode composes, decomposes or lowers do not: a text that says the same to people
// may be another username, and an editor must not make one of the other.
func isPlain(r rune) bool {
	if r < utf8.RuneSelf {
		return strings.ContainsRune(simple+".@", r)
	}
	text := string(r)
	return unicode.IsLetter(r) && unicode.ToLower(r) == r && r != utf8.RuneError &&
		norm.NFKC.IsNormalString(text) && norm.NFKC.PropertiesString(text).BoundaryBefore()
}

// typedAs is what a character means that somebody typed in a USER; false if it has to be percent-encoded.
func typedAs(r rune) (rune, bool) {
	lowered := unicode.ToLower(r)
	isSame := r == lowered || unicode.ToUpper(lowered) == r // K is not the sign for kelvin
	return lowered, isPlain(lowered) && isSame
}

// escapeUser percent-encodes what is not plain, and the dash with which a flag begins.
func escapeUser(username string) string {
	var b strings.Builder
	for i, r := range username {
		_, size := utf8.DecodeRuneInString(username[i:])
		if isPlain(r) && (i > 0 || r != '-') {
			b.WriteRune(r)
		} else {
			b.WriteString(percent(username[i : i+size]))
		}
	}
	return b.String()
}

func percent(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
