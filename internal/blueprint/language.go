package blueprint

import (
	"fmt"
	"reflect"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/yamldoc"
)

// The limits of all expressions together: each takes time to compile, and the
// more the longer it is.
const (
	maxExpressions = 400
	maxExpressed   = 16 << 10 // bytes
)

// language is the language of expressions, made when there is one.
type language struct {
	get           func() (*expression.Language, error)
	count, length int // of those that were checked
}

func newLanguage() *language { return &language{get: sync.OnceValues(expression.New)} }

// anew is the same language with nothing counted yet: for what one user adds to
// the platform's blueprints, which several may do at the same time.
func (l *language) anew() *language { return &language{get: l.get} }

// check finds what is wrong with an expression, without a user.
func (l *language) check(text string, wanted expression.Result) error {
	l.count++
	l.length += len(text)
	if l.count > maxExpressions || l.length > maxExpressed {
		return fmt.Errorf("too many expressions: more than %d in total, or longer than %d KiB", maxExpressions, maxExpressed>>10)
	}
	cel, err := l.get()
	if err != nil {
		return err
	}
	return cel.Check(text, wanted)
}

func (s *Set) shape(file string) *yamldoc.Checker { return s.language.shape(file) }

// shape is a check of what is written in a file, with its expressions.
func (l *language) shape(file string) *yamldoc.Checker {
	s := &yamldoc.Checker{File: file}
	s.OnTag = func(n *yaml.Node, t reflect.Type) {
		result := resultOf(t)
		switch {
		case !isExpression(n):
			s.Problemf(n, "unknown tag %s; use %s", yamldoc.CustomTag(n), expressionTag)
		case result == "":
			_, wanted := yamldoc.Expected(t)
			s.Problemf(n, "expected %s, found an expression, which can stand for a string, a number or a boolean", wanted)
		default:
			if err := l.check(n.Value, result); err != nil {
				s.Problemf(n, "%s", err)
			}
		}
	}
	return s
}

// expressionTag marks a scalar that is to be evaluated.
const expressionTag = "!cel"

func isExpression(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == expressionTag
}

// resultOf is what an expression must give where a type is expected; nothing if
// there can be none.
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
	case reflect.Interface:
		return expression.Scalar
	default:
		return ""
	}
}
