package fault

import "strings"

// Command is a command line that a hint proposes, as one would type it. Names in it
// may come from the cluster, where anybody wrote them.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Word(word)
	}
	return strings.Join(quoted, " ")
}

// Word is an argument as one would type it: quoted if a shell would split it.
func Word(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("~@%+=:,./_-", r)
	}
	if s != "" && s[0] != '~' && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
