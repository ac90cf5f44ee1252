package expression

import (
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// variables is the variable behind env(NAME). No expression can name it.
const variables = "@variables"

// readsVariable makes env(NAME) an entry of the variables.
func readsVariable(of cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
	return of.NewCall(operators.Index, of.NewIdent(variables), args[0]), nil
}

// refusesVariable keeps env(NAME) from those whose blueprints the platform did not write: they would read the
// environment of their users.
func refusesVariable(of cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
	return nil, of.NewError(args[0].ID(), "env() is for platform blueprints alone")
}

// readable is the variables, never nil.
func readable(all map[string]string) map[string]string {
	if all == nil {
		return map[string]string{}
	}
	return all
}

// maxLabel is how long a DNS label can be.
const maxLabel = 63

// normalizesDNS declares normalizeDNS(TEXT).
func normalizesDNS() cel.EnvOption {
	call := cel.UnaryBinding(func(value ref.Val) ref.Val {
		text, ok := value.(types.String)
		if !ok {
			return types.MaybeNoSuchOverloadErr(value)
		}
		return types.String(normalizeDNS(string(text)))
	})
	return cel.Function("normalizeDNS",
		cel.Overload("normalize_dns_string", []*cel.Type{cel.StringType}, cel.StringType, call))
}

// normalizeDNS makes a DNS label of a text: lower case, with - for what cannot be in one, and not at its ends.
func normalizeDNS(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(text))
	text = strings.TrimLeft(text, "-")
	return strings.TrimRight(text[:min(len(text), maxLabel)], "-")
}
