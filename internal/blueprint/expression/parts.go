package expression

import (
	"errors"
	"slices"
	"unicode/utf8"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/parser"
)

// Part is a part of an expression: a variable, a text, or the call of a function.
type Part struct {
	// Start and Stop are where it is, in characters.
	Start, Stop int
	// Variable is its name, unless it is one that a macro has made.
	Variable string
	// Field is what is chosen of the variable.
	Field string
	// Mapping is true for a variable of which fields are chosen or listed.
	Mapping bool
	// Text is that of a constant.
	Text string
	// Function is the name of one that is called.
	Function string
}

// Parts are those of an expression, which need not have variables and functions that there are.
func Parts(text string) ([]Part, error) {
	p, err := parser.NewParser(parser.Macros(parser.AllMacros...), parser.ExpressionSizeCodePointLimit(maxLength),
		parser.MaxRecursionDepth(maxNesting), parser.MaxExpressionNodeCount(maxNodes))
	if err != nil {
		return nil, err
	}
	tree, problems := p.Parse(common.NewTextSource(text))
	if len(problems.GetErrors()) > 0 {
		return nil, errors.New(problems.GetErrors()[0].Message)
	}
	w := walker{source: tree.SourceInfo(), length: utf8.RuneCountInString(text), seen: map[int]bool{}}
	w.walk(tree.Expr(), nil, Part{})
	return w.parts, nil
}

type walker struct {
	source *ast.SourceInfo
	length int          // characters
	seen   map[int]bool // the places of parts, as a macro may have one of them twice
	parts  []Part
}

func (w *walker) add(e ast.Expr, p Part) {
	at, ok := w.source.GetOffsetRange(e.ID())
	if p.Start, p.Stop = int(at.Start), int(at.Stop); ok && p.Stop <= w.length && !w.seen[p.Start] {
		w.seen[p.Start] = true
		w.parts = append(w.parts, p)
	}
}

// walk finds the parts of an expression. bound are the variables of macros around it, use is what is done with it.
func (w *walker) walk(e ast.Expr, bound []string, use Part) {
	switch e.Kind() {
	case ast.IdentKind:
		if use.Variable = e.AsIdent(); !slices.Contains(bound, use.Variable) {
			w.add(e, use)
		}
	case ast.LiteralKind:
		if text, ok := e.AsLiteral().(types.String); ok && text != "" {
			w.add(e, Part{Text: string(text)})
		}
	case ast.SelectKind:
		s := e.AsSelect()
		w.walk(s.Operand(), bound, Part{Field: s.FieldName(), Mapping: true})
	case ast.CallKind:
		w.call(e, bound)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			w.walk(item, bound, Part{})
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			w.walk(entry.AsMapEntry().Key(), bound, Part{})
			w.walk(entry.AsMapEntry().Value(), bound, Part{})
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			w.walk(field.AsStructField().Value(), bound, Part{})
		}
	case ast.ComprehensionKind:
		w.comprehension(e.AsComprehension(), bound)
	case ast.UnspecifiedExprKind:
	}
}

func (w *walker) call(e ast.Expr, bound []string) {
	c := e.AsCall()
	if c.IsMemberFunction() {
		w.walk(c.Target(), bound, Part{})
	} else {
		w.add(e, Part{Function: c.FunctionName()})
	}
	for i, argument := range c.Args() {
		mapping := c.FunctionName() == operators.Index && i == 0 || c.FunctionName() == operators.In && i == 1
		w.walk(argument, bound, Part{Mapping: mapping})
	}
}

func (w *walker) comprehension(c ast.ComprehensionExpr, bound []string) {
	w.walk(c.IterRange(), bound, Part{Mapping: true})
	w.walk(c.AccuInit(), bound, Part{})
	result := append(slices.Clone(bound), c.AccuVar())
	w.walk(c.Result(), result, Part{})
	inner := slices.Concat(result, []string{c.IterVar(), c.IterVar2()})
	w.walk(c.LoopCondition(), inner, Part{})
	w.walk(c.LoopStep(), inner, Part{})
}
