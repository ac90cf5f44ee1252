package pattern

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestExpr(t *testing.T) {
	const e Expr = `(\d+) of (\d+)`
	for range 2 { // compiled, and compiled before
		if !e.MatchString("3 of 4") || e.MatchString("none") {
			t.Error("it does not match what it should")
		}
	}
	if got := e.ReplaceAllString("3 of 4", "$2"); got != "4" {
		t.Errorf("%q", got)
	}
}

// All expressions of the program can be compiled, as each is only when it is used.
func TestExpressionsOfTheProgram(t *testing.T) {
	found := 0
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, text := range expressions(file) {
			found++
			if _, err := regexp.Compile(text); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return nil
	})
	if err != nil || found < 60 {
		t.Errorf("%d expressions, %v", found, err)
	}
}

// expressions are the constants of type Expr in a file, and what is converted to it.
func expressions(file *ast.File) (all []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if isExpr(n.Type) {
				for _, value := range n.Values {
					all = append(all, literal(value))
				}
			}
		case *ast.CallExpr:
			if isExpr(n.Fun) {
				all = append(all, literal(n.Args[0]))
			}
		}
		return true
	})
	return all
}

func isExpr(e ast.Expr) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Expr" {
		return false
	}
	of, ok := selector.X.(*ast.Ident)
	return ok && of.Name == "pattern"
}

// literal is a string, or the sum of several.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return "(" // nothing that this test can read
}
