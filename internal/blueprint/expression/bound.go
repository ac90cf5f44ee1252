package expression

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// The limits of intermediate values. CEL adds up the cost of a call when it has returned, which is too late for one
// that compares lists of lists that were doubled forty times.
const (
	maxText   = 16 << 10 // bytes
	maxValues = 2000     // of a list or mapping, including nested ones
)

// bound checks the size of the result of every call and every list or mapping literal, so that no large value is ever
// created.
func bound(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch i := i.(type) {
	case interpreter.InterpretableConstructor:
		return boundConstructor{i}, nil
	case interpreter.InterpretableCall:
		return boundCall{i}, nil
	}
	return i, nil
}

type boundCall struct{ interpreter.InterpretableCall }

// Exec bounds the result; the arguments are results themselves.
func (b boundCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return checked(b.InterpretableCall.Exec(frame))
}

type boundConstructor struct {
	interpreter.InterpretableConstructor
}

// Exec bounds the list or mapping.
func (b boundConstructor) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return checked(b.InterpretableConstructor.Exec(frame))
}

func checked(value ref.Val) ref.Val {
	left := maxValues
	if text, ok := value.(types.String); ok && len(text) > maxText || !fits(value, &left) {
		return types.WrapErr(errSize)
	}
	return value
}

// fits counts the values in a value down from left.
func fits(value ref.Val, left *int) bool {
	*left--
	all, ok := value.(traits.Iterable)
	if !ok || *left < 0 {
		return *left >= 0
	}
	mapping, _ := value.(traits.Mapper)
	for it := all.Iterator(); it.HasNext() == types.True; {
		inner := it.Next()
		if mapping != nil {
			inner, _ = mapping.Find(inner)
		}
		if inner != nil && !fits(inner, left) {
			return false
		}
	}
	return true
}
