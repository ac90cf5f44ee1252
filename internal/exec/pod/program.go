package pod

import (
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// The reasons of the errors about a program that the container runtime could not start.
const (
	ReasonNotFound      = "PROGRAM_NOT_FOUND"
	ReasonNotExecutable = "PROGRAM_NOT_EXECUTABLE"
)

// notStarted is the error about a program that could not be started, by what the container
// runtime says; nil if it is about something else. runc and crun have no type for it.
func notStarted(err error, program, in string) error {
	said := strings.ToLower(err.Error())
	is := func(texts ...string) bool {
		for _, text := range texts {
			if strings.Contains(said, text) {
				return true
			}
		}
		return false
	}
	switch {
	case is("executable file not found", "not found in $path", "no such file or directory"):
		return fault.New(fault.InvalidArgument, "program %q not found in %s", program, in).
			WithHint("install it in the image, or check the name").WithReason(ReasonNotFound)
	case !is("exec: ", "crun: "):
		return nil
	case is("permission denied"):
		return fault.New(fault.InvalidArgument, "program %q in %s cannot be executed: permission denied", program, in).
			WithHint("it has to be a file that the container's user may execute").WithReason(ReasonNotExecutable)
	case is("exec format error"):
		return fault.New(fault.InvalidArgument, "program %q in %s cannot be executed: exec format error", program, in).
			WithHint("it is for another architecture than that of the node, or a script without #! in its first line").
			WithReason(ReasonNotExecutable)
	case is("is a directory", "not a directory"):
		return fault.New(fault.InvalidArgument, "%q in %s is not a program", program, in).
			WithHint("name a file that can be executed").WithReason(ReasonNotExecutable)
	}
	return nil
}
