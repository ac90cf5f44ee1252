package original

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Change is what the conversion of a file has changed, or what it has left and means something else to berth.
type Change struct {
	File string
	Line int // in the file as it was
	// Blueprint has the field; empty if the change is the file's.
	Blueprint, Field string
	Message          string
	// Differs is true for what has been left as it was.
	Differs bool
}

// File is a file as it was converted.
type File struct {
	Source blueprint.Source
	// Text is berth's form of it: the source as it is, if nothing in it is changed.
	Text []byte
	// Top is the same, where everything is at its place in the source; nil if the file is empty.
	Top *yaml.Node
	// Beside are the files of its directory that are written out in it, and that berth would read as blueprints.
	Beside []string
}

// Lookup finds the blueprint of a name that is not among the files; nil if there is none.
type Lookup func(name string) *yaml.Node

// converter converts files together, as their blueprints inherit from each other.
type converter struct {
	files    []*file
	written  map[string]*yaml.Node // the platform blueprints by name
	others   Lookup
	included map[string]bool // files that are parts of others
	left     int             // bytes that may be included
	changes  []Change
	problems []yamldoc.Problem
}

// file is one that is converted.
type file struct {
	blueprint.Source
	document   *yaml.Node
	blueprints []*yaml.Node
	beside     []string
	ours       bool // a custom blueprint in berth's form: there is nothing to convert
}

// maxIncludes is how many bytes all files together may include.
const maxIncludes = 8 << 20

// Convert makes berth's form of files of k8shell: those of platform blueprints, and custom ones, by their names. Files
// that others include are left out. What they inherit from may also be one of the others. The problems are those of
// files that cannot be read or written; what is wrong with their blueprints is for package catalog to say.
func Convert(sources []blueprint.Source, others Lookup) (all []File, changes []Change, problems []yamldoc.Problem) {
	c := &converter{
		written: map[string]*yaml.Node{}, others: others, included: map[string]bool{}, left: maxIncludes,
	}
	for _, source := range sources {
		c.read(source)
	}
	c.files = slices.DeleteFunc(c.files, func(f *file) bool { return c.included[filepath.Clean(f.Name)] })
	c.changes = slices.DeleteFunc(c.changes, func(ch Change) bool { return c.included[filepath.Clean(ch.File)] })
	for _, f := range c.files {
		f.blueprints = c.shape(f)
		for _, n := range f.blueprints {
			if name := yamldoc.Field(n, "name"); name != nil && !f.custom() {
				c.written[name.Value] = n
			}
		}
	}
	// What a blueprint inherits is looked at as it was.
	before := map[string]*yaml.Node{}
	for name, n := range c.written {
		before[name] = yamldoc.Expand(n)
	}
	c.written = before
	for _, f := range c.files {
		for _, n := range f.blueprints {
			c.convert(f, n)
		}
		all = append(all, c.finish(f))
	}
	slices.SortStableFunc(c.changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(filepath.ToSlash(a.File), filepath.ToSlash(b.File)), cmp.Compare(a.Line, b.Line))
	})
	return all, c.changes, c.problems
}

// custom says whether the file is a custom blueprint.
func (f *file) custom() bool { return strings.HasSuffix(filepath.Base(f.Name), blueprint.CustomFile) }

// read reads a file, with those that it includes and without aliases: a change of one place is one of all others that
// refer to it.
func (c *converter) read(source blueprint.Source) {
	top, problems := yamldoc.Read(source.Name, source.Text)
	c.problems = append(c.problems, problems...)
	f := &file{Source: source, document: &yaml.Node{Kind: yaml.DocumentNode}}
	if len(problems) > 0 {
		return
	}
	c.files = append(c.files, f)
	if top == nil || yaml.Unmarshal(source.Text, f.document) != nil || len(f.document.Content) == 0 {
		f.document = nil
		return
	}
	if f.custom() && Unwrapped(top) == nil {
		f.ours = true
		return
	}
	if !f.custom() && source.Dir != "" {
		c.include(f)
	}
	if aliased(f.document) {
		f.document.Content[0] = plain(yamldoc.Expand(f.document.Content[0]))
		c.change(f, f.document.Content[0], "", "", "aliases and << are written out")
	}
}

func (c *converter) include(f *file) {
	i := Includer{Dir: f.Dir, File: f.Name, Left: &c.left, Changed: func(at *yaml.Node, tag, path string) {
		if tag == IncludeTag {
			included := filepath.Join(f.Dir, path)
			c.included[included] = true
			if blueprint.IsFile(included) && filepath.Dir(included) == filepath.Clean(f.Dir) {
				f.beside = append(f.beside, included)
			}
		}
		c.change(f, at, "", "", tag+" "+path+": the file is written out here")
	}}
	i.Include(f.document.Content[0])
	c.problems = append(c.problems, i.Problems...)
}

// aliased says whether a node has aliases in it, or mappings that are merged with <<.
func aliased(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!merge" {
		return true
	}
	return slices.ContainsFunc(n.Content, aliased)
}

// plain puts the pairs of << in their places, which none of the mapping's own keys has.
func plain(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		var pairs []*yaml.Node
		seen := map[string]bool{}
		check := new(yamldoc.Checker)
		check.Pairs(n, func(key, value *yaml.Node) {
			if !seen[key.Value] {
				seen[key.Value] = true
				pairs = append(pairs, key, value)
			}
		})
		if len(check.Problems) == 0 { // else the catalog reports them
			n.Content = pairs
		}
	}
	for i, child := range n.Content {
		n.Content[i] = plain(child)
	}
	return n
}

func (c *converter) change(f *file, at *yaml.Node, name, field, message string) {
	c.changes = append(c.changes, Change{
		File: f.Name, Line: at.Line, Blueprint: name, Field: field, Message: message,
	})
}

// shape gives a file the outer form that berth writes, and returns its blueprints.
func (c *converter) shape(f *file) []*yaml.Node {
	if f.document == nil || f.ours {
		return nil
	}
	top := f.document.Content[0]
	if inner := Unwrapped(top); f.custom() && inner != nil {
		c.change(f, top, "", "", "the key blueprint is gone: its fields are those of the file")
		raise(top, inner)
		f.document.Content[0] = inner
		return []*yaml.Node{inner}
	}
	theirs, ok := Blueprints(top)
	if !ok {
		if list := yamldoc.Field(top, "blueprints"); list != nil && list.Kind == yaml.SequenceNode {
			theirs = list.Content
		}
		return mappings(theirs)
	}
	list := top
	if top.Kind != yaml.SequenceNode {
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: theirs}
		place(list, top)
		if len(theirs) > 0 && theirs[0] != top {
			raise(top, theirs[0])
		}
	}
	f.document.Content[0] = mapping(top, "blueprints", list)
	c.change(f, top, "", "", "its blueprints are in a list blueprints")
	return mappings(theirs)
}

func mappings(all []*yaml.Node) []*yaml.Node {
	return slices.DeleteFunc(slices.Clone(all), func(n *yaml.Node) bool { return n.Kind != yaml.MappingNode })
}

// raise keeps the comments of a mapping's one key above the first one of its value.
func raise(top, inner *yaml.Node) {
	if len(inner.Content) == 0 {
		return
	}
	first, key := inner.Content[0], top.Content[0]
	first.HeadComment = joined(key.HeadComment, key.LineComment, first.HeadComment)
	top.Content[1].FootComment = joined(top.Content[1].FootComment, key.FootComment)
}

// joined are the comments that there are, one below the other.
func joined(comments ...string) string {
	return strings.Join(slices.DeleteFunc(comments, func(s string) bool { return s == "" }), "\n")
}

// below is the path of a field below another.
func below(outer, field string) string {
	return strings.TrimPrefix(fmt.Sprintf("%s.%s", outer, field), ".")
}
