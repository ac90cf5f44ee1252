package cause

import (
	"slices"
	"strings"
	"unicode"

	v1 "github.com/berthdev/berth/api/v1"
)

// explanation is what there is to read about a cause apart from a case of it:
// what `berth explain` and docs/causes.md show.
type explanation struct {
	// title says in a few words what it is: "The image does not exist".
	title string
	// meaning is a paragraph for a reader who does not know Kubernetes well.
	meaning string
	// signs are what it is recognized by, in kubectl's words: where to look, and
	// what stands there.
	signs []string
	// remedies are what to do, each a sentence, the likeliest first.
	remedies []string
	// passes says by what it passes without anybody doing anything; empty if it
	// does not.
	passes string
	// example is the dump in testdata/cases of which the example is made.
	example string
}

// Explanation is a cause of the catalogue for those who read about it.
type Explanation struct {
	v1.Explanation
	// Dump is the dump of which its example is made: DIR/NAME.
	Dump string
}

// Explanations are the whole catalogue, family by family.
func Explanations() (all []Explanation) {
	for _, f := range families() {
		for _, e := range f.entries {
			all = append(all, e.explained(f.name))
		}
	}
	return all
}

func (e entry) explained(family string) Explanation {
	reasons := slices.Sorted(slices.Values(e.reasons))
	return Explanation{Dump: e.example, Explanation: v1.Explanation{
		Code: e.code, Family: family, Title: e.title, Reasons: slices.Compact(reasons), Meaning: e.meaning,
		Signs: e.signs, Remedies: e.remedies, Passes: e.passes, NeedsPerson: e.person,
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
