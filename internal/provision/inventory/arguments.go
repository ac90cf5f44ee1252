package inventory

import (
	v1 "github.com/berthdev/berth/api/v1"
)

// Argument is a workspace as somebody named it: by its user string or its
// canonical ID. It is parsed, and not looked up.
type Argument struct {
	// Text is what was typed.
	Text string
	// Namespace is the one that it names; empty if it names none.
	Namespace  string
	candidates []candidate
}

// ParseArgument reads what names a workspace.
func ParseArgument(text string) (Argument, error) {
	all, namespace, err := candidates(text)
	return Argument{Text: text, Namespace: namespace, candidates: all}, err
}

// IDs are the canonical IDs that the argument can mean, the likeliest first.
func (a Argument) IDs() []string {
	ids := make([]string, len(a.candidates))
	for i, c := range a.candidates {
		ids[i] = c.id
	}
	return ids
}

// ListedArgument names a workspace that List has listed.
func ListedArgument(w v1.Workspace) (Argument, error) {
	text := "id/" + w.ID
	if w.Workload != "" && w.UserString != "" {
		text = w.UserString // which says what it is injected into
	}
	a, err := ParseArgument(text)
	a.Namespace = w.Namespace
	return a, err
}
