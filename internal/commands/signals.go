package commands

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// together is within what time several SIGTERM are one request to end: timeout(1)
// sends its child one, and another to the process group of the child.
const together = time.Second

// withSignals ends the context on the first Ctrl-C or SIGTERM, so that what is
// under way stops cleanly, and calls exit on the second.
func withSignals(ctx context.Context, exit func(fault.Code)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// A write to a pipe that nobody reads is an error like others then, so that the
	// command gives back the terminal and what it holds.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		var first time.Time
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				switch code := codeOf(s); {
				case first.IsZero():
					first = time.Now()
					cancel(fault.New(code, "interrupted"))
				case s != syscall.SIGTERM || time.Since(first) > together:
					exit(code)
				}
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(pipes)
		close(done)
		cancel(nil)
	}
}

func codeOf(s os.Signal) fault.Code {
	if s == syscall.SIGTERM {
		return fault.Terminated
	}
	return fault.Interrupted
}
