package cause

import "github.com/berthdev/berth/internal/pattern"

// advice is what to say of a message that has these words.
type advice struct {
	words pattern.Expr
	text  string
}

// advise gives the first advice that fits a message; otherwise, if none does.
func advise(message string, all []advice, otherwise string) string {
	for _, known := range all {
		if known.words.MatchString(message) {
			return known.text
		}
	}
	return otherwise
}
