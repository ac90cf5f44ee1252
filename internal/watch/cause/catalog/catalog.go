// Package catalog is what there is to read about the causes that package detect finds: one YAML file a
// family. It is decoded when something of it is needed for the first time.
package catalog

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v3"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
)

//go:embed *.yaml
var texts embed.FS

// Entry is what there is to say of a cause whatever it is found in.
type Entry struct {
	// Code names it in documents, policies and on the command line.
	Code string
	// Title says in a few words what it is: "The image does not exist".
	Title string
	// Reasons are Kubernetes' own words for it, by which it can be ignored as well as by its code.
	Reasons []string
	// Exact is true if one of Kubernetes' words ignores a case of this cause only where Kubernetes used that very word
	// for it: where it said CreateContainerError, --ignore-reason RunContainerError does not ignore it. Otherwise
	// each of the Reasons ignores every case. The code ignores a case either way.
	Exact bool
	// Person is true for what stays until a person changes it, however long it is waited for. What fails at
	// once need not say so.
	Person bool
	// Meaning is a paragraph for a reader who does not know Kubernetes well.
	Meaning string
	// Hint says what it means and what to do where it was found, for the same reader. {why} is what package
	// cause makes of the case; About.fill there has the other placeholders.
	Hint string
	// Advice is what {advice} in the hint says, by the message of the case: the first that fits.
	Advice []Advice
	// Signs are what it is recognized by, in kubectl's words: where to look, and what stands there.
	Signs []string
	// Remedies are what to do, each a sentence, the likeliest first.
	Remedies []string
	// Passes says by what it passes without anybody doing anything; empty if it does not.
	Passes string
	// Example is the dump in testdata/cases of which the example is made: DIR/NAME.
	Example string
}

// Advice is what to do where a message has some words.
type Advice struct {
	// Words are empty if it fits every message.
	Words pattern.Expr
	// Claim is true for what is said of pods that mount a volume claim alone.
	Claim bool
	// Text has the placeholders of a hint, and {1} for the first group of the expression.
	Text string
}

// Family is causes that have one subject, and are detected together.
type Family struct {
	Name    string
	Entries []Entry
}

// catalog is the families in the order in which they are read about, and their entries by code.
type catalog struct {
	families []Family
	byCode   map[string]Entry
}

// load decodes the catalogue once. It is part of the program: what is wrong with it is found by a test.
//
//nolint:gochecknoglobals // what was decoded: the same for everybody
var load = sync.OnceValue(func() catalog {
	c := catalog{byCode: map[string]Entry{}}
	for _, name := range []string{
		"image", "start", "crash", "readiness", "scheduling", "node", "volume", "admission", "rollout",
	} {
		text, err := texts.ReadFile(name + ".yaml")
		if err != nil {
			panic(err)
		}
		entries, err := decode(text)
		if err != nil {
			panic(fmt.Sprintf("%s.yaml: %v", name, err))
		}
		c.families = append(c.families, Family{Name: name, Entries: entries})
		for _, e := range entries {
			c.byCode[e.Code] = e
		}
	}
	return c
})

// decode reads the entries of one family; an unknown field is an error.
func decode(text []byte) (entries []Entry, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	err = decoder.Decode(&entries)
	return entries, err
}

// Families are in the order in which they are read about.
func Families() []Family { return load().families }

// Lookup is the entry of a code; that of an unknown one is empty.
func Lookup(code string) Entry { return load().byCode[code] }

// Reasons are the names by which causes can be ignored: their codes, and
// Kubernetes' own reasons that are not among them. Both are sorted.
func Reasons() (codes, kubernetes []string) {
	for _, f := range Families() {
		for _, e := range f.Entries {
			codes, kubernetes = append(codes, e.Code), append(kubernetes, e.Reasons...)
		}
	}
	slices.Sort(codes)
	slices.Sort(kubernetes)
	return codes, slices.Compact(kubernetes)
}

// Reason gives the proper spelling of a name by which a cause can be ignored;
// false if there is none of that name, whatever the case of its letters.
func Reason(name string) (proper string, ok bool) {
	codes, kubernetes := Reasons()
	for _, known := range slices.Concat(codes, kubernetes) {
		if strings.EqualFold(known, name) {
			return known, true
		}
	}
	return "", false
}

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
