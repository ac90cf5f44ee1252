package cmdtest

import (
	"io"
	"testing"

	"github.com/berthdev/berth/internal/commands"
	"github.com/berthdev/berth/internal/terminal"
)

// RunInto runs berth with these in place of its standard output and error; nil for
// one that takes everything. It gives the exit status and what was written there.
func RunInto(t *testing.T, out, err io.Writer, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	streams, b := terminal.Test("", now())
	if out != nil {
		streams.Out.Writer = out
	}
	if err != nil {
		streams.Err.Writer = err
	}
	status = commands.Main(args, streams, func(int) { t.Error("berth exited at once") })
	return status, b.Out.String(), b.Err.String()
}

// Broken is an output to which nothing can be written.
type Broken struct{ Err error }

// Write fails.
func (b Broken) Write([]byte) (int, error) { return 0, b.Err }
