package fault

import "slices"

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
		{1, []Code{Internal, OutputFailed}, "a defect of berth, an unexpected response, or output that cannot be written"},
		{2, []Code{InvalidArgument}, "flags, user string, blueprint or configuration are wrong"},
		{3, []Code{Failed}, "the workspace failed for a reason that will not pass, or was refused by quota, admission or pod security"},
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
