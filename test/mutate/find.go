package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// place is where the program can be changed.
type place struct {
	id       int
	pkg      string // the directory of the package
	file     string
	line     int
	what     string // the change, for people
	edits    []edit
	constant bool // it takes a build of its own
}

// edit is a text that is put into a file: before what begins there, or behind what ends there.
type edit struct {
	at, reach int  // reach is the other end of what is changed
	closes    bool // it is put behind
	text      func(id int) string
}

func (p place) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.what) }

// find lists the places in order.
func find(only string) (all []place, err error) {
	for _, root := range roots() {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			dir, name := filepath.Split(path)
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
				strings.HasSuffix(filepath.Clean(dir), "test") || !strings.HasPrefix(path, only) {
				return err
			}
			if built, err := build.Default.MatchFile(dir, name); err != nil || !built {
				return err
			}
			text, err := os.ReadFile(path) //nolint:gosec // of the checkout
			if err != nil {
				return err
			}
			f := &finder{file: path, text: string(text), files: token.NewFileSet()}
			parsed, err := parser.ParseFile(f.files, path, text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(parsed, f.visit)
			all = append(all, f.places...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// finder finds the places of a file.
type finder struct {
	file, text string
	files      *token.FileSet
	places     []place
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		if n.Tok == token.CONST {
			f.constants(n)
			return false
		}
		return n.Tok == token.VAR
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.IfStmt:
		if _, isBinary := n.Cond.(*ast.BinaryExpr); !isBinary {
			f.around(n.Cond, "negated", "(mutant(%d) != (", "))")
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			f.around(n, "false", "(!mutant(%d) && ", ")")
		case "false":
			f.around(n, "true", "(mutant(%d) || ", ")")
		}
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	}
	return true
}

// statements are left out one by one: calls, assignments, and the early returns.
func (f *finder) statements(all []ast.Stmt) {
	for _, s := range all {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && f.source(call.Fun) != "panic" {
				f.around(s, "left out", "if !mutant(%d) { ", " }")
			}
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !strings.HasPrefix(f.source(s), "_ ") {
				f.around(s, "left out", "if !mutant(%d) { ", " }")
			}
		case *ast.IncDecStmt:
			f.around(s, "left out", "if !mutant(%d) { ", " }")
		case *ast.IfStmt:
			if last := len(s.Body.List) - 1; s.Else == nil && last >= 0 {
				if r, ok := s.Body.List[last].(*ast.ReturnStmt); ok {
					f.around(r, "left out", "if !mutant(%d) { ", " }")
				}
			}
		}
	}
}

// binary changes an operator: a bound by one, equality and the two that join into their
// opposites. What joins is not written twice, as it may have other changes in it.
func (f *finder) binary(n *ast.BinaryExpr) {
	opposite := map[token.Token]token.Token{
		token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	}[n.Op]
	what := fmt.Sprintf("%s is %s", n.Op, opposite)
	switch n.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		other := fmt.Sprintf("%s %s %s", f.source(n.X), opposite, f.source(n.Y))
		f.around(n, what, "(mutant(%[1]d) && ("+strings.ReplaceAll(other, "%", "%%")+") || !mutant(%[1]d) && (", "))")
	case token.EQL, token.NEQ:
		f.around(n, what, "(mutant(%d) != (", "))")
	case token.LAND, token.LOR: // by De Morgan
		f.around(n, what, "(mutant(%d) != (", "))")
		p := &f.places[len(f.places)-1]
		for _, side := range []ast.Expr{n.X, n.Y} {
			p.edits = append(p.edits, f.edits(side, "(mutant(%d) != (", "))")...)
		}
	}
}

// constants doubles numbers.
func (f *finder) constants(n *ast.GenDecl) {
	for _, spec := range n.Specs {
		values, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for _, value := range values.Values {
			isNumber := false
			ast.Inspect(value, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				isNumber = isNumber || ok && literal.Kind == token.INT
				return true
			})
			if isNumber && !strings.Contains(f.source(value), "iota") {
				f.around(value, "doubled", "2*(", ")")
				f.places[len(f.places)-1].constant = true
			}
		}
	}
}

func (f *finder) source(n ast.Node) string {
	from, to := f.span(n)
	return f.text[from:to]
}

func (f *finder) span(n ast.Node) (from, to int) {
	return f.files.Position(n.Pos()).Offset, f.files.Position(n.End()).Offset
}

// around adds the place that a node is, with a text before and one behind it.
func (f *finder) around(n ast.Node, what, before, behind string) {
	source, _, more := strings.Cut(f.source(n), "\n")
	if more {
		source += " …"
	}
	f.places = append(f.places, place{
		pkg: filepath.Dir(f.file), file: f.file, line: f.files.Position(n.Pos()).Line, what: source + ": " + what,
		edits: f.edits(n, before, behind),
	})
}

func (f *finder) edits(n ast.Node, before, behind string) []edit {
	from, to := f.span(n)
	return []edit{
		{from, to, false, func(id int) string {
			if !strings.Contains(before, "%") {
				return before
			}
			return fmt.Sprintf(before, id)
		}},
		{to, from, true, func(int) string { return behind }},
	}
}
