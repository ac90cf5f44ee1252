// Package fault is the one error type of berth: every error that a user can
// cause or meet has a code, a message that names the thing, and a hint that
// can be acted upon.
package fault

import (
	"errors"
	"fmt"
)

// Error is an error with a code and a hint.
type Error struct {
	Code    Code
	Message string
	// Detail is the last part of the message, where the first says how the command
	// ended: "still Pulling: web:1.0" of "timed out after 5m0s: still Pulling: web:1.0".
	Detail string
	// Hint says what to do about it: one sentence or command. Never empty talk:
	// leave it out where there is nothing to say.
	Hint string
	// Reason tells errors of one code apart, for scripts: USER_LOCKED. Most have
	// none.
	Reason string
	// Problems are the single findings where one input has several.
	Problems []string
	// Err is what was met underneath, for errors.Is.
	Err error
}

// Error is the message alone; what prints it adds the code and the hint.
func (e *Error) Error() string { return e.Message }

// Unwrap gives what was met underneath.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error whose message is formatted as by fmt.Errorf; a %w in it
// becomes what Unwrap gives. Each argument is a Line.
func New(code Code, format string, args ...any) *Error {
	asLines(args)
	err := fmt.Errorf(format, args...)
	inner := errors.Unwrap(err)
	if f, ok := inner.(foreignError); ok { //nolint:errorlint // this very one, as it was made above
		inner = f.error
	}
	return &Error{Code: code, Message: err.Error(), Err: inner}
}

// WithHint adds what to do about it. Each argument is a Line.
func (e *Error) WithHint(format string, args ...any) *Error {
	asLines(args)
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithDetail adds the last part of the message, a Line.
func (e *Error) WithDetail(detail string) *Error {
	detail = Line(detail)
	e.Message, e.Detail = e.Message+": "+detail, detail
	return e
}

// WithReason adds what tells it apart from others of its code.
func (e *Error) WithReason(reason string) *Error {
	e.Reason = reason
	return e
}

// ReasonOf is the reason of err; empty if it has none.
func ReasonOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

// From gives err as an Error. Any other error becomes INTERNAL, since
// nothing expected it.
func From(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Internal, Message: Line(err.Error()), Err: err}
}

// CodeOf is the code of err; empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return From(err).Code
}
