package commands

import (
	"context"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// sideBySide does n pieces of work, some at a time, beginning with the first.
func sideBySide(n, parallel int, work func(i int)) {
	places := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	for i := range n {
		places <- struct{}{} // in the order in which they are asked for
		wg.Go(func() {
			defer func() { <-places }()
			work(i)
		})
	}
	wg.Wait()
}

// notBegun is the result of one for which there was no time left.
func notBegun(ctx context.Context) v1.Result {
	why := *fault.From(context.Cause(ctx))
	why.Message += ": it was not begun"
	document := printer.ErrorDocument(&why)
	return v1.Result{Error: &document}
}

// tally counts how several workspaces ended, and decides the exit status: that
// of an interruption, or else 3 if any failed.
type tally struct{ succeeded, failed, status int }

func (t *tally) add(e *v1.Error) {
	switch {
	case e == nil:
		t.succeeded++
	case fault.Code(e.Code) == fault.Interrupted, fault.Code(e.Code) == fault.Terminated:
		t.failed++
		t.status = e.ExitStatus
	default:
		t.failed++
		t.status = max(t.status, fault.Failed.Exit())
	}
}
