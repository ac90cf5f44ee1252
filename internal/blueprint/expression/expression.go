// Package expression evaluates the !cel expressions of blueprints. Anybody may write a blueprint, so their cost is
// bounded.
package expression

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// Language checks and evaluates expressions.
type Language struct{ env, users *cel.Env }

// New creates the language with its variables and functions.
func New() (*Language, error) {
	env, err := environment(readsVariable)
	if err != nil {
		return nil, err
	}
	users, err := environment(refusesVariable)
	return &Language{env: env, users: users}, err
}

func environment(variable cel.MacroFactory) (*cel.Env, error) {
	return cel.NewEnv(
		facts,
		cel.Macros(cel.GlobalMacro("env", 1, variable)),
		cel.Variable(variables, cel.MapType(cel.StringType, cel.StringType)),
		normalizesDNS(),
		cel.Variable("workspaceName", cel.StringType),
		cel.Variable("user", cel.ObjectType("expression.User")),
		cel.Variable("metadata", cel.ObjectType("expression.Metadata")),
		cel.Variable("blueprint", cel.MapType(cel.StringType, cel.DynType)),
		cel.ParserExpressionSizeLimit(maxLength),
		cel.ParserRecursionLimit(maxNesting),
		cel.ExpressionNodeLimit(maxNodes),
		cel.RegexProgramSizeLimit(maxRegex),
	)
}

// facts makes the fields of the Go types available to expressions.
func facts(env *cel.Env) (*cel.Env, error) {
	provider, adapter, err := types.ComposeTypes(env.CELTypeProvider(), env.CELTypeAdapter(),
		reflect.TypeFor[User](), reflect.TypeFor[Metadata](), types.ParseStructTags(true))
	if err != nil {
		return nil, err
	}
	if env, err = cel.CustomTypeAdapter(adapter)(env); err != nil {
		return nil, err
	}
	return cel.CustomTypeProvider(provider)(env)
}

// Facts are the variables of expressions, except the blueprint that they are in.
type Facts struct {
	User          User
	WorkspaceName string
	Metadata      Metadata
	// Variables are those of berth's environment that expressions may read.
	Variables map[string]string
}

// User is the user that a workspace is for.
type User struct {
	Username     string   `cel:"username"`
	UID          int      `cel:"uid"`
	GID          int      `cel:"gid"`
	Email        string   `cel:"email"`
	Fullname     string   `cel:"fullname"`
	Organization string   `cel:"organization"`
	Roles        []string `cel:"roles"`
	Blueprints   []string `cel:"blueprints"`
	Sudo         bool     `cel:"sudo"`
	// Provider is the identity provider that knew the user.
	Provider string `cel:"source"`
	// Shell and GitAddress are k8shell's; no provider of berth knows them.
	Shell      string `cel:"shell"`
	GitAddress string `cel:"gitAddress"`
}

// Metadata is where a blueprint comes from.
type Metadata struct {
	// Name is the blueprint's, which may be computed.
	Name string `cel:"name"`
	// RepoOwner, RepoName and Ref are empty unless it is a repository's.
	RepoOwner string `cel:"repoOwner"`
	RepoName  string `cel:"repoName"`
	Ref       string `cel:"ref"`
	// RepoRef is the same as Ref.
	RepoRef string `cel:"repoRef"`
	// RepoAddress is the address of the repository, as it is cloned from.
	RepoAddress string `cel:"repoAddress"`
}

// Result is what a field accepts, named for messages.
type Result string

// The results.
const (
	Text   Result = "a string"
	Bool   Result = "a boolean"
	Number Result = "an integer"
	Float  Result = "a number"
	Scalar Result = "a string, a number or a boolean" // Kubernetes validates it
)

// The limits of one expression, far above what blueprints need.
const (
	maxLength  = 1024   // characters as written
	maxNodes   = 300    // after macros are put in
	maxNesting = 24     // of brackets and calls
	maxCost    = 10_000 // in CEL's unit, about one per step
	maxRegex   = 500    // states of a regular expression
	interrupt  = 100    // steps of a loop between checks of the context
)

// Check reports whether text is an expression that can return what is expected. It needs no facts.
func (l *Language) Check(text string, expected Result) error {
	_, err := compile(l.env, text, expected)
	return err
}

// CheckUsers is Check for what a user writes, who reads no variables of berth's environment.
func (l *Language) CheckUsers(text string, expected Result) error {
	return l.OfUsers().Check(text, expected)
}

// OfUsers is the language of what users write.
func (l *Language) OfUsers() *Language { return &Language{env: l.users, users: l.users} }

func compile(env *cel.Env, text string, expected Result) (*cel.Ast, error) {
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, fmt.Errorf("character %d of the expression: %s", first.Location.Column()+1, oneLine(first.Message))
	}
	if given := ast.OutputType(); !expected.accepts(given.Kind()) {
		return nil, fmt.Errorf("expected %s, the expression returns %s", expected, given)
	}
	return ast, nil
}

// accepts reports whether a type fits. That of a dynamic expression is known only when it has been evaluated.
func (r Result) accepts(kind types.Kind) bool {
	switch kind {
	case types.DynKind, types.NullTypeKind:
		return true
	case types.BoolKind:
		return r != Number && r != Float
	case types.IntKind, types.UintKind:
		return r != Bool
	case types.DoubleKind:
		return r != Number && r != Bool
	case types.StringKind:
		return r == Text || r == Scalar
	default:
		return false
	}
}

// Evaluate returns the value of an expression: a string, bool, int64, uint64, float64 or nil. The blueprint is the one
// that the expression is in, as plain values.
func (l *Language) Evaluate(ctx context.Context, text string, expected Result, known Facts,
	blueprint map[string]any,
) (any, error) {
	ast, err := compile(l.env, text, expected)
	if err != nil {
		return nil, err
	}
	program, err := l.env.Program(ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(interrupt),
		cel.CustomDecoratorV2(bound))
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	value, _, err := program.ContextEval(ctx, map[string]any{
		"user": known.User, "workspaceName": known.WorkspaceName, "metadata": known.Metadata, "blueprint": blueprint,
		variables: readable(known.Variables),
	})
	switch {
	case err != nil && strings.Contains(err.Error(), "cost limit exceeded"):
		return nil, errSteps
	case err != nil && strings.Contains(err.Error(), errSize.Error()):
		return nil, errSize
	case err != nil && strings.Contains(text, "env(") && strings.Contains(err.Error(), noKey):
		_, name, _ := strings.Cut(err.Error(), noKey)
		return nil, fmt.Errorf("the environment variable %s may not be read: blueprintVariables in the configuration "+
			"does not list it", oneLine(name))
	case err != nil:
		return nil, errors.New(oneLine(err.Error()))
	}
	return plain(value, expected)
}

// noKey is what CEL says of a mapping that lacks a key.
const noKey = "no such key: "

// IsLimit reports whether an expression was too much work, no matter who it is for.
func IsLimit(err error) bool { return errors.Is(err, errSteps) || errors.Is(err, errSize) }

var (
	errSteps = errors.New("the expression exceeds its limit of steps")
	errSize  = fmt.Errorf("an intermediate value is larger than %d KiB or %d values", maxText>>10, maxValues)
)

func plain(value ref.Val, expected Result) (any, error) {
	kind, ok := value.Type().(*types.Type)
	if !ok || !expected.accepts(kind.Kind()) {
		return nil, fmt.Errorf("expected %s, the expression returns %s", expected, value.Type().TypeName())
	}
	if value.Type() == types.NullType {
		return nil, nil //nolint:nilnil // null is a value like another
	}
	return value.Value(), nil
}

// oneLine drops the excerpt of the source that CEL adds below a message.
func oneLine(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return strings.TrimPrefix(first, "ERROR: ")
}
