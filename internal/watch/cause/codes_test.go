package cause

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// codes are those of the catalogue.
func codes() []string {
	codes, _ := catalog.Reasons()
	return codes
}

// Every code that is declared in a family is in the catalogue, once.
func TestEveryCodeIsInTheCatalogue(t *testing.T) {
	codes := codes()
	if len(slices.Compact(slices.Clone(codes))) != len(codes) {
		t.Errorf("a code is listed twice: %q", codes)
	}
	declared := 0
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		for _, spec := range decl.(*ast.GenDecl).Specs {
			declared++
			value := spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value
			if code, _ := strconv.Unquote(value); !slices.Contains(codes, code) {
				t.Errorf("%s is not there", code)
			}
		}
	}
	if declared != len(codes) {
		t.Errorf("%d codes are declared, %d are in the catalogue", declared, len(codes))
	}
}
