package catalog

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/blueprint/original"
	"github.com/berthdev/berth/internal/yamldoc"
)

// The limits of all expressions together, as each takes time to compile.
const (
	maxExpressions     = 400
	maxExpressionBytes = 16 << 10 // bytes
	maxEvaluated       = 100      // expressions of one blueprint
)

// language is the language of expressions, created with the first one.
type language struct {
	get           func() (*expression.Language, error)
	user          bool // of what a user writes, who has less of it
	count, length int  // of those that were checked
}

func newLanguage() *language { return &language{get: sync.OnceValues(expression.New)} }

// recounted is the same language with counters of its own.
func (l *language) recounted() *language { return &language{get: l.get} }

// ofUser is the language, with counters of its own, for what one user adds to the platform's blueprints, which several
// may do concurrently: it reads no environment.
func (l *language) ofUser() *language { return &language{get: l.get, user: true} }

// checker checks what is written in a file, with its expressions.
func (l *language) checker(file string) *yamldoc.Checker {
	c := &yamldoc.Checker{File: file}
	c.OnTag = func(n *yaml.Node, t reflect.Type) {
		result := resultOf(t)
		switch {
		case original.Included(n):
			c.Misfit(n, "%s reads a file only for platform blueprints that are files of a directory", n.Tag)
		case !layer.IsExpression(n):
			c.Misfit(n, "unknown tag %s; use %s", yamldoc.CustomTag(n), layer.ExpressionTag)
		case result == "":
			_, expected := yamldoc.Expected(t)
			c.Misfit(n, "expected %s, found an expression, which can only replace a string, a number or a boolean",
				expected)
		default:
			if err := l.check(n.Value, result); err != nil {
				c.Problemf(n, "%s", err)
			}
		}
	}
	return c
}

// check finds what is wrong with an expression, without a user.
func (l *language) check(text string, expected expression.Result) error {
	l.count++
	l.length += len(text)
	if l.count > maxExpressions || l.length > maxExpressionBytes {
		return fmt.Errorf("too many expressions: more than %d in total, or longer than %d KiB", maxExpressions,
			maxExpressionBytes>>10)
	}
	cel, err := l.get()
	if err != nil {
		return err
	}
	if l.user {
		return cel.CheckUsers(text, expected)
	}
	return cel.Check(text, expected)
}

// evaluated has the values of expressions in the place of these. They see the blueprint without expressions, so that
// their order does not matter.
func (d Draft) evaluated(ctx context.Context, v layer.Value, known expression.Facts) (layer.Value, []string) {
	return d.all(ctx, v, known, func(error) bool { return true })
}

// all evaluates the expressions, and reports some of their errors.
func (d Draft) all(ctx context.Context, v layer.Value, known expression.Facts,
	report func(error) bool,
) (layer.Value, []string) {
	var problems []string
	root := reflect.TypeFor[blueprint.Blueprint]()
	plain := sync.OnceValue(func() map[string]any {
		fields, _ := v.Plain(root).(map[string]any)
		return fields
	})
	count := 0
	return v.Evaluate(root, func(path string, leaf layer.Value, t reflect.Type) *yaml.Node {
		count++
		if count > maxEvaluated {
			if count == maxEvaluated+1 {
				problems = append(problems, fmt.Sprintf("%s: a blueprint can have at most %d expressions", path,
					maxEvaluated))
			}
			return layer.Null()
		}
		l := d.set.language
		if d.isUsers(leaf.At) {
			l = l.ofUser()
		}
		result, err := l.evaluate(ctx, leaf.Scalar.Value, resultOf(t), known, plain())
		if err != nil && report(err) {
			problems = append(problems, path+": "+err.Error())
		}
		if err != nil {
			return layer.Null()
		}
		return result
	}), problems
}

func (l *language) evaluate(ctx context.Context, text string, expected expression.Result, known expression.Facts,
	fields map[string]any,
) (*yaml.Node, error) {
	cel, err := l.get()
	if err != nil {
		return nil, err
	}
	if l.user {
		cel = cel.OfUsers()
	}
	result, err := cel.Evaluate(ctx, text, expected, known, fields)
	if err != nil {
		return nil, err
	}
	if expected == expression.Text && result != nil {
		result = fmt.Sprint(result)
	}
	var node yaml.Node
	return &node, node.Encode(result)
}

// withoutUser shows expressions where a string can be, and null in other places.
func withoutUser(v layer.Value) layer.Value {
	return v.Evaluate(reflect.TypeFor[blueprint.Blueprint](),
		func(_ string, leaf layer.Value, t reflect.Type) *yaml.Node {
			if result := resultOf(t); result != expression.Text && result != expression.Scalar {
				return layer.Null()
			}
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: layer.ExpressionTag + " " + leaf.Scalar.Value}
		})
}

// resultOf is what an expression must return for a type; empty if there must be none.
func resultOf(t reflect.Type) expression.Result {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return expression.Text
	case reflect.Bool:
		return expression.Bool
	case reflect.Int64:
		return expression.Number
	case reflect.Float64:
		return expression.Float
	case reflect.Interface:
		return expression.Scalar
	default:
		return ""
	}
}
