package blueprint

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/berthdev/berth/internal/blueprint/expression"
)

// maxExpressions are in all blueprints together: each takes time to compile.
const maxExpressions = 1000

// language is the language of expressions, made when there is one.
type language struct {
	get    func() (*expression.Language, error)
	looked int
}

func newLanguage() *language { return &language{get: sync.OnceValues(expression.New)} }

// check finds what is wrong with an expression, without a user.
func (l *language) check(text string, wanted expression.Result) error {
	if l.looked++; l.looked > maxExpressions {
		return fmt.Errorf("there are more than %d expressions", maxExpressions)
	}
	cel, err := l.get()
	if err != nil {
		return err
	}
	return cel.Check(text, wanted)
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
