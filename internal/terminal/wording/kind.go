package wording

import (
	"regexp"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

var (
	words = regexp.MustCompile(`[^\s(),/]+`)
	// counter is a word that is a number or a duration: those in a name, as in init-1 or
	// tool:1.4, tell things apart.
	counter = regexp.MustCompile(`^x?(?:\d+(?:\.\d+)?[a-zµ]{0,2})+[:;.]?$`)
)

// MessageKind is what stays of a message from one repeat to the next: all but counters. What
// is in quotation marks is a name, and tells one thing from another.
func MessageKind(message string) string {
	parts := strings.Split(message, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = withoutCounters(parts[i])
	}
	return strings.Join(parts, `"`)
}

// withoutCounters has # in place of counters. An exit code is none, and counts of pods that are
// ready are progress: 2 of 3.
func withoutCounters(text string) string {
	var out strings.Builder
	all := words.FindAllStringIndex(text, -1)
	word := func(i int) string {
		if i < 0 || i >= len(all) {
			return ""
		}
		return text[all[i][0]:all[i][1]]
	}
	end := 0
	for i, at := range all {
		out.WriteString(text[end:at[0]])
		end = at[1]
		before, it, after := word(i-1), word(i), word(i+1)
		if counter.MatchString(it) && before != "code" && before != "of" && after != "of" {
			it = "#"
		}
		out.WriteString(it)
	}
	return out.String() + text[end:]
}

// WarningKey tells warnings apart.
type WarningKey struct{ reason, object, message string }

// KeyOf is the key of a warning; it is the same when the warning is repeated.
func KeyOf(w v1.Warning) WarningKey { return WarningKey{w.Reason, w.Object, MessageKind(w.Message)} }
