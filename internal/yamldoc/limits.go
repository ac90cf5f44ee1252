package yamldoc

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Limits of one document.
const (
	MaxFile     = 1 << 20 // bytes as written: what a ConfigMap can hold
	MaxProblems = 100     // problems that are reported
	MaxDepth    = 64      // nested mappings and lists
)

// Limits keep a hostile or broken document from taking time and memory.
type Limits struct {
	Bytes  int // as written
	Marks  int // characters that can begin a node, before it is parsed
	Weight int // bytes with aliases expanded
	Depth  int // nested mappings and lists
}

// limits are those of Read, far above what anybody needs.
func limits() Limits {
	return Limits{Bytes: MaxFile, Marks: 100_000, Weight: 4 << 20, Depth: MaxDepth}
}

// nodeWeight is the bytes that a node counts beside its text.
const nodeWeight = 16

// Marks counts the characters that can begin a node, before a text is parsed: each node takes some two hundred bytes,
// however short it is.
func Marks(raw []byte) (marks int) {
	lineStart := true
	for _, c := range raw {
		switch c {
		case '\n':
			lineStart = true
		case ' ', '\t':
		case ',', '[', '{', '-', '?', ':':
			// Counted inside a string, too: this is a bound, not a parser.
			marks++
			lineStart = false
		default:
			if lineStart {
				marks++
			}
			lineStart = false
		}
	}
	return marks
}

// Bomb is what keeps a document from being parsed in bounded time and memory; what else is wrong with it is left to the
// parser. Only aliases make of a document more than it is.
func Bomb(text []byte, limits Limits) *Problem {
	switch {
	case len(text) > limits.Bytes:
		return &Problem{Message: fmt.Sprintf("larger than %d MiB", limits.Bytes>>20)}
	case Marks(text) > limits.Marks:
		return &Problem{Message: "too many values"}
	case !HasAliases(text):
		return nil
	}
	_, problem := read(text, limits)
	return problem
}

// HasAliases is false for a document of which no more comes out than is in it.
func HasAliases(text []byte) bool {
	return bytes.IndexByte(text, '*') >= 0 && bytes.IndexByte(text, '&') >= 0
}

// checkSize measures a document with its aliases expanded, without expanding them. The problem is empty if it is within
// the limits.
func checkSize(document *yaml.Node, limits Limits) (problem string, at *yaml.Node) {
	m := measurer{limits: limits, done: map[*yaml.Node]size{}, open: map[*yaml.Node]bool{}}
	s := m.size(document, 0)
	if m.problem == "" && s.weight > limits.Weight {
		return fmt.Sprintf("larger than %d MiB with its aliases expanded", limits.Weight>>20), document
	}
	return m.problem, m.at
}

// Oversized is what is too much about a node that has been put together of several documents; nil for nothing. Only
// then it is known that its aliases end, and within which bounds.
func Oversized(top *yaml.Node) *Problem {
	problem, at := checkSize(top, limits())
	if problem == "" {
		return nil
	}
	return &Problem{Line: at.Line, Column: at.Column, Message: problem}
}

// size is that of a node with everything in it.
type size struct{ weight, depth int }

// measurer visits each node once, however many aliases refer to it.
type measurer struct {
	limits  Limits
	done    map[*yaml.Node]size
	open    map[*yaml.Node]bool
	problem string
	at      *yaml.Node
}

func (m *measurer) size(n *yaml.Node, depth int) size {
	if s, ok := m.done[n]; ok {
		m.tooDeep(n, depth+s.depth)
		return s
	}
	if m.problem != "" || m.tooDeep(n, depth) {
		return size{}
	}
	if n.Kind == yaml.AliasNode {
		if m.open[n.Alias] {
			m.fail(n, "alias %q refers to itself", n.Value)
			return size{}
		}
		return m.size(n.Alias, depth)
	}
	m.open[n] = true
	s := size{weight: nodeWeight + len(n.Value)}
	for _, child := range n.Content {
		inner := m.size(child, depth+1)
		s.weight = min(s.weight+inner.weight, m.limits.Weight+1)
		s.depth = max(s.depth, inner.depth+1)
	}
	delete(m.open, n)
	if n.Anchor != "" {
		m.done[n] = s // only these are visited again
	}
	return s
}

// tooDeep counts the document itself as a level.
func (m *measurer) tooDeep(n *yaml.Node, depth int) bool {
	if depth <= m.limits.Depth+1 {
		return false
	}
	m.fail(n, "nested more than %d levels deep", m.limits.Depth)
	return true
}

func (m *measurer) fail(at *yaml.Node, format string, args ...any) {
	if m.problem == "" {
		m.problem, m.at = fmt.Sprintf(format, args...), at
	}
}
