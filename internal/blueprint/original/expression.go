package original

import (
	"regexp"
	"slices"
	"strings"
)

// token is a part of an expression: a string, a name, or anything else.
var token = regexp.MustCompile(`(?s)[rR](?:"""(?:.*?)"""|'''(?:.*?)'''|"[^"]*"|'[^']*')|` +
	`(?:"""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|` +
	`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|[A-Za-z_][A-Za-z0-9_]*|.`)

// absent are what k8shell has in place of the parts of a repository where there is none; berth has an empty text.
func absent() []string { return []string{"norepoowner", "noreponame", "noaddress"} }

// convertExpression gives an expression the variables that berth has. The notes are of what has another value.
func convertExpression(text string) (converted string, notes []string) {
	tokens := token.FindAllString(text, -1)
	if strings.Join(tokens, "") != text {
		return text, nil // no text
	}
	repository, environment := false, false
	for i, t := range tokens {
		before, after := solid(tokens[:i], -1), solid(tokens[i+1:], 1)
		quoted := strings.Trim(t, `"'`)
		switch {
		case t == wrapper && before != "." && !ours(tokens[i+1:]):
			tokens[i] = "metadata.name"
		case quoted != t && slices.Contains(absent(), quoted) && strings.Contains(text, "metadata"):
			tokens[i] = t[:1] + t[len(t)-1:]
		case before == "." && slices.Contains([]string{"repoName", "repoOwner", "repoAddress"}, t):
			repository = true
		case t == "env" && before != "." && after == "(":
			environment = true
		}
	}
	if repository {
		notes = append(notes, "without a repository its owner, name and address are empty")
	}
	if environment {
		notes = append(notes, "env reads the variables alone that blueprintVariables in the configuration names")
	}
	return strings.Join(tokens, ""), notes
}

// ours says of what follows the name blueprint that it is berth's mapping: a field of it is chosen, and no method
// called.
func ours(rest []string) bool {
	words := make([]string, 0, 3)
	for _, t := range rest {
		if strings.TrimSpace(t) != "" {
			words = append(words, t)
		}
		if len(words) == cap(words) {
			break
		}
	}
	return len(words) > 0 && (words[0] == "[" || words[0] == "." && (len(words) < 3 || words[2] != "("))
}

// solid is the first token that is no space, from the begin, or from the end.
func solid(tokens []string, direction int) string {
	for i := range tokens {
		t := tokens[i]
		if direction < 0 {
			t = tokens[len(tokens)-1-i]
		}
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}
