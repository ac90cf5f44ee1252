// Package doctor looks whether everything is there that provisioning takes, and says what to do where it is not. It
// changes nothing.
package doctor

import (
	"context"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// Check is one thing to look at.
type Check struct {
	Name string
	// Look says what was found; the name is filled in by Run. An
	// error is judged by its code: what may not be read or cannot be asked is skipped.
	Look func(context.Context) (Finding, error)
	// Reaches is true for the check of the way to the cluster itself, which fails if there is none where the others are
	// skipped.
	Reaches bool
}

// Finding is what came of a check.
type Finding struct {
	Status        v1.CheckupStatus
	Message, Hint string
	Problems      []string
}

// OK is a finding about which there is nothing to do.
func OK(message string) Finding { return Finding{Status: v1.CheckupOK, Message: message} }

// Warning is a finding with which one can work for now.
func Warning(message, hint string) Finding {
	return Finding{Status: v1.CheckupWarning, Message: message, Hint: hint}
}

// Failed is a finding with which provisioning would fail.
func Failed(message, hint string) Finding {
	return Finding{Status: v1.CheckupFailed, Message: message, Hint: hint}
}

// Skipped is a check that was not made.
func Skipped(message string) Finding { return Finding{Status: v1.CheckupSkipped, Message: message} }

// Run makes all checks side by side and gives each the same time; one that takes longer is left alone. The items are in
// the order of the checks.
func Run(ctx context.Context, checks []Check, each time.Duration) v1.Checkup {
	checkup := v1.Checkup{Items: make([]v1.CheckupItem, len(checks))}
	var group sync.WaitGroup
	for i, c := range checks {
		group.Go(func() {
			f := c.run(ctx, each)
			problems, excerpts := fault.CutExcerpts(f.Problems)
			checkup.Items[i] = v1.CheckupItem{
				Name: c.Name, Status: f.Status, Message: f.Message, Hint: f.Hint,
				Problems: problems, Excerpts: excerpts,
			}
		})
	}
	group.Wait()
	return checkup
}

func (c Check) run(ctx context.Context, each time.Duration) Finding {
	ctx, cancel := context.WithTimeout(ctx, each)
	defer cancel()
	type answer struct {
		Finding
		err error
	}
	answered := make(chan answer, 1) // the receiver may be gone
	go func() {
		f, err := c.Look(ctx)
		answered <- answer{f, err}
	}()
	select {
	case a := <-answered:
		if a.err != nil && ctx.Err() != nil {
			return c.late(each)
		}
		if a.err != nil {
			return c.judge(a.err)
		}
		return a.Finding
	case <-ctx.Done():
		return c.late(each)
	}
}

func (c Check) late(each time.Duration) Finding {
	message := "no answer within " + each.String()
	if c.Reaches {
		return Failed(message, "check the network and the server of the current context (kubectl config view --minify)")
	}
	return Skipped(message)
}

// judge makes a finding of an error.
func (c Check) judge(err error) Finding {
	f := fault.From(err)
	switch f.Code {
	case fault.Unavailable:
		if !c.Reaches {
			return Skipped("the cluster cannot be reached") // one check says why
		}
	case fault.PermissionDenied, fault.Unauthenticated:
		if !c.Reaches {
			return Skipped(f.Message)
		}
	}
	return Finding{Status: v1.CheckupFailed, Message: f.Message, Hint: f.Hint, Problems: f.Problems}
}
