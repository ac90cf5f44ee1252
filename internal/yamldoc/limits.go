package yamldoc

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Limits of one document, which whoever reads several may want to know.
const (
	MaxFile     = 1 << 20 // bytes as written: what a ConfigMap can hold
	MaxProblems = 100     // problems that are told
	MaxDepth    = 64      // mappings and lists inside each other
)

// The limits keep a hostile or a broken file from taking time and memory. They
// are far above what anybody needs.
const (
	maxMarks   = 100_000 // signs that can begin a node, before it is parsed
	maxWeight  = 4 << 20 // bytes after aliases are put in
	nodeWeight = 16      // what a node counts beside its text
)

// crowded looks at a file before it is parsed: each of its nodes will take some
// two hundred bytes, however short it is.
func crowded(raw []byte) bool {
	marks, lineBegins := 0, true
	for _, c := range raw {
		switch c {
		case '\n':
			lineBegins = true
		case ' ', '\t':
		case ',', '[', '{', '-', '?', ':':
			// A dash or a sign of the flow style in the middle of a text counts
			// too: this is a bound, not a parser.
			marks++
			lineBegins = false
		default:
			if lineBegins {
				marks++
			}
			lineBegins = false
		}
	}
	return marks > maxMarks
}

// measure finds out how large a document is with its aliases put in, without
// putting them in, and what is wrong with it if it is too large.
func measure(document *yaml.Node) (problem string, at *yaml.Node) {
	m := measurer{done: map[*yaml.Node]size{}, open: map[*yaml.Node]bool{}}
	s := m.size(document, 0)
	switch {
	case m.problem != "":
		return m.problem, m.at
	case s.weight > maxWeight:
		return fmt.Sprintf("is larger than %d MiB when its aliases are put in", maxWeight>>20), document
	}
	return "", nil
}

// size is that of a node with everything in it.
type size struct{ weight, depth int }

// measurer looks at each node once: what an alias stands for has been measured.
type measurer struct {
	done    map[*yaml.Node]size
	open    map[*yaml.Node]bool
	problem string
	at      *yaml.Node
}

func (m *measurer) size(n *yaml.Node, depth int) size {
	if s, ok := m.done[n]; ok {
		m.deep(n, depth+s.depth)
		return s
	}
	if m.problem != "" || m.deep(n, depth) {
		return size{}
	}
	if n.Kind == yaml.AliasNode {
		if m.open[n.Alias] {
			m.say(n, "alias %q stands inside of what it stands for", n.Value)
			return size{}
		}
		return m.size(n.Alias, depth)
	}
	m.open[n] = true
	s := size{weight: nodeWeight + len(n.Value)}
	for _, child := range n.Content {
		inner := m.size(child, depth+1)
		s.weight = min(s.weight+inner.weight, maxWeight+1)
		s.depth = max(s.depth, inner.depth+1)
	}
	delete(m.open, n)
	if n.Anchor != "" {
		m.done[n] = s // no other node is met twice
	}
	return s
}

// deep says so if a node stands too deep. The document itself is a level.
func (m *measurer) deep(n *yaml.Node, depth int) bool {
	if depth <= MaxDepth+1 {
		return false
	}
	m.say(n, "more than %d mappings and lists stand inside each other", MaxDepth)
	return true
}

func (m *measurer) say(at *yaml.Node, format string, args ...any) {
	if m.problem == "" {
		m.problem, m.at = fmt.Sprintf(format, args...), at
	}
}
