package pod

import (
	"errors"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// What the container runtimes say of programs that they cannot start.
func TestNotStarted(t *testing.T) {
	for text, want := range map[string]string{
		`OCI runtime exec failed: exec failed: unable to start container process: exec: "nosuch": executable file not found in $PATH: unknown`: ReasonNotFound,
		`OCI runtime exec failed: exec failed: unable to start container process: exec: "/nosuch": stat /nosuch: no such file or directory`:    ReasonNotFound,
		"exec failed: crun: executable file `nosuch` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command": ReasonNotFound,
		`OCI runtime exec failed: exec failed: unable to start container process: exec: "/etc": permission denied: unknown`:                    ReasonNotExecutable,
		"crun: open `/etc/passwd`: Permission denied: OCI permission denied":                                                                   ReasonNotExecutable,
		`OCI runtime exec failed: exec failed: unable to start container process: exec /tmp/x: exec format error: unknown, exec: "/tmp/x"`:     ReasonNotExecutable,
		`OCI runtime exec failed: exec failed: unable to start container process: exec: "/etc": is a directory: unknown`:                       ReasonNotExecutable,
		`pods "x" is forbidden: permission denied`: "",
		"error dialing backend: i/o timeout":       "",
	} {
		err := notStarted(errors.New(text), "x", "workspace alice-1234567")
		if got := fault.ReasonOf(err); got != want || err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v, reason %q, want %q", text, err, got, want)
		}
	}
}
