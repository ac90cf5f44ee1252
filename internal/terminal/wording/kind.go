package wording

import (
	"regexp"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// counters are numbers and durations in a message, and counts of pods that are ready, which
// are progress: 2 of 3.
var counters = regexp.MustCompile(`\b\d+ of \d+\b|\b(?:\d+(?:\.\d+)?[a-zµ]{0,2})+\b`)

// MessageKind is what stays of a message from one repeat to the next: all but counters. What
// is in quotation marks is a name, and tells one thing from another.
func MessageKind(message string) string {
	parts := strings.Split(message, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = counters.ReplaceAllStringFunc(parts[i], func(counter string) string {
			if strings.Contains(counter, " of ") {
				return counter
			}
			return "#"
		})
	}
	return strings.Join(parts, `"`)
}

// WarningKey tells warnings apart.
type WarningKey struct{ reason, object, message string }

// KeyOf is the key of a warning; it is the same when the warning is repeated.
func KeyOf(w v1.Warning) WarningKey { return WarningKey{w.Reason, w.Object, MessageKind(w.Message)} }
