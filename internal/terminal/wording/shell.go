package wording

import (
	"strings"
)

// Flag is a flag and its value as one would type them.
func Flag(name, value string) string { return name + " " + Word(value) }

// Word is an argument as one would type it: quoted if a shell would take it
// apart.
func Word(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("~@%+=:,./_-", r)
	}
	if s != "" && s[0] != '~' && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
