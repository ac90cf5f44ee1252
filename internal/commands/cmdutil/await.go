package cmdutil

import "context"

// Await gives what f returns, or the reason for the end of the context if that comes
// first: f reads files, which can hang, and takes no context. It is left behind then.
func Await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1) // the receiver may be gone
	go func() {
		value, err := f()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
