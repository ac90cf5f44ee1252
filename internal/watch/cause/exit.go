package cause

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// The exit codes of what was ended from outside: SIGKILL and SIGTERM.
const exitKilled, exitTerminated = 137, 143

// probed is what a probe has to do with the end of a container.
func probed(c v1.Cause, a About) string {
	if !strings.Contains(c.Message, "probe failed") {
		return ended(c, a)
	}
	return "It is ended because of its probe, which may be given more time (initialDelaySeconds, timeoutSeconds, a startup probe). " + answer(c, a)
}

// ended says in words how a container ended.
func ended(c v1.Cause, _ About) string { return exitText(c.ExitCode) }

// exitText says in words what an exit code means. Codes above 128 are
// signals; 126 and 127 are what a shell says.
func exitText(code *int) string {
	if code == nil {
		return ""
	}
	switch n := *code; {
	case n == 0:
		return "It ended by itself, with exit code 0, though it should keep running."
	case n == 126:
		return "Exit code 126: a program was found, but may not be executed."
	case n == 127:
		return "Exit code 127: a program was not found."
	case signals()[n-128] != "":
		return fmt.Sprintf("Exit code %d is %s.", n, signals()[n-128])
	default:
		return fmt.Sprintf("Its program ended with exit code %d.", n)
	}
}

// signals by their numbers on Linux, which is where the containers are, and
// what usually sends them.
func signals() map[int]string {
	return map[int]string{
		1:  "SIGHUP: its terminal went away",
		2:  "SIGINT: it was interrupted",
		3:  "SIGQUIT: it was asked to quit",
		4:  "SIGILL: an instruction that this processor does not have",
		6:  "SIGABRT: the program aborted itself, as after a failed assertion",
		7:  "SIGBUS: memory that cannot be reached, as when /dev/shm is full",
		8:  "SIGFPE: an impossible calculation, such as a division by zero",
		9:  "SIGKILL: it was killed from outside, as after a failing liveness probe or a stop that took too long",
		11: "SIGSEGV: the program crashed by using memory that is not its own",
		13: "SIGPIPE: the reader of its output went away",
		15: "SIGTERM: it was asked to terminate",
	}
}
