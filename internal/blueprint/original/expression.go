package original

import (
	"slices"
	"strings"
	"sync"

	"github.com/berthdev/berth/internal/blueprint/expression"
)

// absent are what k8shell has in place of the parts of a repository where there is none; berth has an empty text.
func absent() []string { return []string{"norepoowner", "noreponame", "noaddress"} }

// language is berth's, by which it is seen whether an expression is one.
var language = sync.OnceValues(expression.New) //nolint:gochecknoglobals // takes time to make

// edit is a text that takes the place of a part of an expression, by characters.
type edit struct {
	start, stop int
	text        string
}

// convertExpression gives an expression the variables that berth has. The notes are of what has another value. One that
// cannot be read stays as it is: the catalog says what is wrong with it.
func convertExpression(text string) (converted string, notes []string) {
	parts, err := expression.Parts(text)
	if err != nil {
		return text, nil
	}
	metadata := slices.ContainsFunc(parts, func(p expression.Part) bool { return p.Variable == "metadata" })
	repository, environment := false, false
	var edits []edit
	characters := []rune(text)
	for _, p := range parts {
		switch {
		case p.Variable == wrapper && !p.Mapping:
			edits = append(edits, edit{p.Start, p.Stop, "metadata.name"})
		case p.Variable == "metadata" && slices.Contains([]string{"repoName", "repoOwner", "repoAddress"}, p.Field):
			repository = true
		case p.Function == "env":
			environment = true
		case metadata && slices.Contains(absent(), p.Text):
			edits = append(edits, edit{p.Start, p.Stop, strings.Repeat(string(characters[p.Stop-1]), 2)})
		}
	}
	if repository {
		notes = append(notes, "without a repository its owner, name and address are empty")
	}
	if environment {
		notes = append(notes, "env reads the variables alone that blueprintVariables in the configuration names")
	}
	converted = edited(text, edits)
	if converted != text && valid(text) && !valid(converted) {
		return text, append(notes, "blueprint is a mapping of fields here, and the name of the blueprint to k8shell")
	}
	return converted, notes
}

func valid(text string) bool {
	cel, err := language()
	return err == nil && cel.Check(text, expression.Scalar) == nil
}

// edited is a text with its edits, the last one first, so that the others stay at their places.
func edited(text string, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return b.start - a.start })
	characters := []rune(text)
	for _, e := range edits {
		characters = slices.Replace(characters, e.start, e.stop, []rune(e.text)...)
	}
	if len(edits) == 0 {
		return text
	}
	return strings.Clone(string(characters))
}
