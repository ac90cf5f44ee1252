package catalog

import (
	"slices"
	"strings"
	"unicode"

	v1 "github.com/berthdev/berth/api/v1"
)

// Explanation is a cause of the catalogue apart from a case of it: what `berth explain` and
// docs/causes.md show.
type Explanation struct {
	v1.Explanation
	// Dump is the dump of which its example is made: DIR/NAME.
	Dump string
}

// Explanations are the whole catalogue, family by family.
func Explanations() (all []Explanation) {
	for _, f := range Families() {
		for _, e := range f.Entries {
			all = append(all, e.explained(f.Name))
		}
	}
	return all
}

func (e Entry) explained(family string) Explanation {
	reasons := slices.Sorted(slices.Values(e.Reasons))
	return Explanation{Dump: e.Example, Explanation: v1.Explanation{
		Code: e.Code, Family: family, Title: e.Title, Reasons: slices.Compact(reasons), Meaning: e.Meaning,
		Signs: e.Signs, Remedies: e.Remedies, Passes: e.Passes, NeedsPerson: e.Person,
	}}
}

// Explain finds a cause by its code, or all that Kubernetes has one reason for. The
// case of letters does not matter, nor what is between words: image-not-found.
func Explain(name string) (found []Explanation) {
	for _, e := range Explanations() {
		if sameWord(e.Code, name) {
			return []Explanation{e}
		}
		if slices.ContainsFunc(e.Reasons, func(reason string) bool { return sameWord(reason, name) }) {
			found = append(found, e)
		}
	}
	return found
}

// GoesFurther is true if there is more to do about it than a hint has room for.
func (e Explanation) GoesFurther() bool { return len(e.Remedies) > 1 || e.Passes != "" }

func sameWord(a, b string) bool { return strings.EqualFold(letters(a), letters(b)) }

// letters leaves out what separates words.
func letters(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, word)
}
