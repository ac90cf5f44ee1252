package original

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/yamldoc"
)

// The tags of scalars that name a file: the YAML in it, or its text, takes the place of the scalar.
const (
	IncludeTag = "!include"
	FileTag    = "!file"
)

// Included reports whether a node stands for a file.
func Included(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == IncludeTag || n.Tag == FileTag)
}

const (
	maxIncluded = 8       // files that include each other
	perFile     = 1 << 10 // bytes that a file counts in addition to its own, as to open it takes time
)

// Includer puts the files of a directory where a file of blueprints names them. Nothing outside of the directory is
// read, also where a link leads there.
type Includer struct {
	// Dir is the directory, File the file of blueprints, for messages.
	Dir, File string
	// Left is how many bytes may still be read.
	Left *int
	// Changed is called for each file that has been put in; nil for nobody.
	Changed  func(at *yaml.Node, tag, path string)
	Problems []yamldoc.Problem
}

// Include replaces what stands for a file. Problems in what is included are said to be where it is included.
func (i *Includer) Include(top *yaml.Node) {
	if !has(top) {
		return
	}
	root, err := os.OpenRoot(i.Dir)
	if err != nil {
		i.problem(top, "%v", err)
		return
	}
	defer root.Close()
	i.within(root, top, 0)
	if problem := yamldoc.Oversized(top); problem != nil && len(i.Problems) == 0 {
		i.problem(top, "with what it includes: %s", problem.Message)
	}
}

// has says whether anything in a node stands for a file.
func has(n *yaml.Node) bool {
	return Included(n) || slices.ContainsFunc(n.Content, has)
}

func (i *Includer) within(root *os.Root, n *yaml.Node, depth int) {
	if len(i.Problems) > yamldoc.MaxProblems {
		return
	}
	if !Included(n) {
		for _, child := range n.Content { // an alias has none: its anchor is seen where it is
			i.within(root, child, depth)
		}
		return
	}
	tag, path := n.Tag, n.Value
	content, problem := i.read(root, n, depth)
	if problem != nil {
		i.problem(n, "%s %s: %v", tag, path, problem)
		yamldoc.Drop(n)
		return
	}
	if i.Changed != nil {
		i.Changed(n, tag, path)
	}
	at := *n
	*n = *content
	n.Anchor, n.HeadComment, n.LineComment, n.FootComment = at.Anchor, at.HeadComment, at.LineComment, at.FootComment
	relocate(n, at.Line, at.Column)
	i.within(root, n, depth+1)
}

// read is what takes the place of a node.
func (i *Includer) read(root *os.Root, n *yaml.Node, depth int) (*yaml.Node, error) {
	if depth == maxIncluded {
		return nil, fmt.Errorf("more than %d files include each other", maxIncluded)
	}
	text, err := i.text(root, n.Value)
	if err != nil {
		return nil, err
	}
	if n.Tag == FileTag {
		if !utf8.Valid(text) {
			return nil, errors.New("must be text (UTF-8)")
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(text)}, nil
	}
	top, problems := yamldoc.Read(filepath.Join(i.Dir, n.Value), text)
	if len(problems) > 0 {
		return nil, errors.New(problems[0].String())
	}
	if top == nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	}
	return top, nil
}

func (i *Includer) text(root *os.Root, path string) ([]byte, error) {
	if !filepath.IsLocal(path) {
		return nil, errors.New("must be a path below the directory of the file")
	}
	info, err := root.Stat(path)
	switch {
	case err != nil:
		return nil, reason(err)
	case !info.Mode().IsRegular(): // to open a pipe would wait for a writer
		return nil, errors.New("not a regular file")
	}
	file, err := root.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, yamldoc.MaxFile+1))
	if *i.Left -= len(text) + perFile; err == nil && (len(text) > yamldoc.MaxFile || *i.Left < 0) {
		return nil, errors.New("too large, by itself or with all others")
	}
	return text, err
}

// reason is an error without the path, which is said already.
func reason(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

func (i *Includer) problem(at *yaml.Node, format string, args ...any) {
	i.Problems = append(i.Problems,
		yamldoc.Problem{File: i.File, Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, args...)})
}

// relocate says of everything in a node that it is at a place.
func relocate(n *yaml.Node, line, column int) {
	n.Line, n.Column = line, column
	for _, child := range n.Content {
		relocate(child, line, column)
	}
}
