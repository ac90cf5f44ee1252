package yamldoc

import "go.yaml.in/yaml/v3"

// Flat is a copy of a node that stands for itself: what its aliases stand for
// is put in. Read has bounded how large that can be.
func Flat(n *yaml.Node) *yaml.Node {
	flat := *Behind(n)
	flat.Anchor = ""
	flat.Content = make([]*yaml.Node, len(flat.Content))
	for i, child := range Behind(n).Content {
		flat.Content[i] = Flat(child)
	}
	return &flat
}
