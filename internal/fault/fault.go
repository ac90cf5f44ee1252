// Package fault is the one error type of berth: every error that a user can cause or meet has a code, a message that
// names the thing, and a hint that can be acted upon.
package fault

import (
	"errors"
	"fmt"
	"slices"
)

// Error is an error with a code and a hint.
type Error struct {
	Code    Code
	Message string
	// Detail is the last part of the message, where the first says how the command ended: "still Pulling: web:1.0" of
	// "timed out after 5m0s: still Pulling: web:1.0".
	Detail string
	// Hint says what to do about it: one sentence or command. Never empty talk: leave it out where there is nothing to
	// say.
	Hint string
	// Reason tells errors of one code apart, for scripts: USER_LOCKED. Most have none.
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

// New makes an error whose message is formatted as by fmt.Errorf; a %w in it becomes what Unwrap gives. Each argument
// is a Line.
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

// From gives err as an Error. Any other error becomes INTERNAL, since nothing expected it.
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

// Code names a class of errors; it decides the exit status.
type Code string

// The codes, in the order of `berth help exit-codes`.
const (
	Internal         Code = "INTERNAL"
	InvalidArgument  Code = "INVALID_ARGUMENT"
	Failed           Code = "FAILED"
	PermissionDenied Code = "PERMISSION_DENIED"
	Unauthenticated  Code = "UNAUTHENTICATED"
	DeadlineExceeded Code = "DEADLINE_EXCEEDED"
	AlreadyExists    Code = "ALREADY_EXISTS"
	Conflict         Code = "CONFLICT"
	NotFound         Code = "NOT_FOUND"
	Unavailable      Code = "UNAVAILABLE"
	Interrupted      Code = "INTERRUPTED"
	// OutputFailed says that standard output or standard error cannot be written to.
	OutputFailed Code = "OUTPUT_FAILED"
	// Terminated is an interruption by SIGTERM: INTERRUPTED with another status.
	Terminated Code = "TERMINATED"
)

// Meaning is a row of the table in `berth help exit-codes`.
type Meaning struct {
	Exit  int
	Codes []Code
	When  string
}

// Table is the contract between codes and exit statuses.
func Table() []Meaning {
	return []Meaning{
		{1, []Code{Internal, OutputFailed}, "a defect of berth, an unexpected response, or output that " +
			"cannot be written"},
		{2, []Code{InvalidArgument}, "flags, user string, blueprint or configuration are wrong"},
		{3, []Code{Failed}, "the workspace failed for a reason that will not pass, or was refused by quota, " +
			"admission or pod security"},
		{4, []Code{PermissionDenied, Unauthenticated}, "the cluster or an identity provider does not allow it"},
		{5, []Code{DeadlineExceeded}, "timed out (--timeout)"},
		{6, []Code{AlreadyExists, Conflict}, "already running, or locked by another command"},
		{7, []Code{NotFound}, "no such workspace, blueprint or namespace"},
		{8, []Code{Unavailable}, "the cluster, a provider or a source could not be reached"},
		{130, []Code{Interrupted}, "Ctrl-C"},
		{143, []Code{Terminated}, "SIGTERM"},
	}
}

// Exit is the process's exit status for the code.
func (c Code) Exit() int {
	if c == "" {
		return 0
	}
	for _, m := range Table() {
		if slices.Contains(m.Codes, c) {
			return m.Exit
		}
	}
	return 1
}
