package commands

import (
	"context"
	"sync"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// closedPipe is the exit status of a command whose output nobody reads any more: what
// a shell reports of a program that SIGPIPE has ended, as it ends kubectl, helm and gh.
const closedPipe = 141

// outputs are what has become of standard output and standard error.
type outputs struct {
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	errors []*terminal.WriteError // of each stream one at most
}

// failed ends the command: there is no point in going on if its result cannot be
// written. What cannot be written to standard error does not end it, unless its
// reader has gone.
func (o *outputs) failed(err *terminal.WriteError) {
	o.mu.Lock()
	o.errors = append(o.errors, err)
	o.mu.Unlock()
	if err.OfResult() || err.Closed() {
		o.cancel(err)
	}
}

// exit prints what could not be written, and gives the exit status of the command,
// which would have ended with status; own is that of its own failures.
func (o *outputs) exit(s terminal.Streams, status, own int) int {
	o.mu.Lock()
	failures := o.errors
	o.mu.Unlock()
	for _, err := range failures {
		if err.Closed() {
			return closedPipe
		}
	}
	for _, err := range failures {
		_ = printer.PrintError(s, printer.Format{}, *result.NewError(err)) // unless it is standard error
		if status == 0 || own != fault.OutputFailed.Exit() {
			status = own
		}
	}
	return status
}
