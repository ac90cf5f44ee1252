package commands

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/berthdev/berth/internal/fault"
)

// withSignals ends the context with the first Ctrl-C or SIGTERM, for what is at
// work to stop in good order, and leaves at once with the second.
func withSignals(ctx context.Context, leave func(fault.Code)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case <-done:
				return
			case s := <-signals:
				if code := codeOf(s); first {
					cancel(fault.New(code, "interrupted"))
				} else {
					leave(code)
				}
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
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
