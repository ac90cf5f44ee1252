package instance

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
)

// never is longer than anybody waits: the context ends sooner.
const never = 365 * 24 * time.Hour

// look finds out whether the objects are healthy, and waits for that if the pass does.
func (p *pass) look(ctx context.Context, applier apply.Applier, objects []*unstructured.Unstructured) error {
	if len(p.outcome.Changes.With(apply.Created, apply.Updated, apply.Deleted)) > 0 {
		p.verdicts.healthy = unknown(v1alpha1.ReasonUnhealthy, "the objects have just been applied")
	}
	if p.until == UntilInstalled {
		return nil
	}
	if p.until == UntilHealthy || p.outcome.Action != v1.BundleUnchanged {
		if err := p.write(ctx); err != nil { // it is installed, whatever comes of it
			return err
		}
	}
	patience := never
	if p.until == UntilLookedAt {
		patience = 0
	}
	return p.steps.Do("health", func() (string, error) {
		if err := applier.Watch(ctx, objects); err != nil {
			err = p.denied(err)
			p.verdicts.healthy = unknown(v1alpha1.ReasonReconcileFailed, "whether the objects are as they should be cannot be seen: "+why(err))
			return "", err
		}
		rest, err := health.Wait(ctx, applier.Live, objects, patience, p.healthReporter(len(objects)))
		if err != nil {
			p.verdicts.healthy = no(v1alpha1.ReasonUnhealthy, unhealthy(rest, err))
			if ctx.Err() != nil {
				return "", p.givenUp(ctx, rest)
			}
			if p.until == UntilLookedAt {
				return "", nil // there is another pass
			}
			return "", err
		}
		p.outcome.Healthy = true
		p.verdicts.healthy = yes(v1alpha1.ReasonHealthy, allCurrent)
		if len(objects) == 0 {
			return "there are no objects to wait for", nil
		}
		return english.Plural(len(objects), "object") + " as they should be", nil
	})
}

// lookAgain is how long objects that are not healthy are left alone: as long as that has
// been so, within bounds. Most are on their way and need some seconds.
func lookAgain(since, now time.Time) time.Duration {
	return min(max(now.Sub(since), time.Second), time.Minute)
}

// writeTime is how long the last word about an object may take to be written.
const writeTime = 2 * time.Second

// afterwards is the context in which it is written that something took too long; nil if
// that is not why ctx has ended: who was interrupted, or has lost the lock, knows nothing
// of the object that would be worth writing.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	if fault.CodeOf(context.Cause(ctx)) != fault.DeadlineExceeded {
		return nil, nil
	}
	return context.WithTimeout(context.WithoutCancel(ctx), writeTime)
}

// givenUp is why nobody waits any longer, and for what; that is also on the instance.
func (p *pass) givenUp(ctx context.Context, rest []health.Reading) error {
	err := *fault.From(context.Cause(ctx))
	if err.Code == fault.Conflict { // the lock is lost: another run has the word
		return &err
	}
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	_ = p.write(writing) // it is said here in any case
	if err.Hint == "" && len(rest) > 0 {
		err.Hint = "see why: " + rest[0].Command()
	}
	return err.WithDetail("still " + p.verdicts.healthy.message)
}

// healthReporter tells of what an object waits for.
func (p *pass) healthReporter(total int) func(health.Reading) {
	current := map[string]bool{}
	return func(r health.Reading) {
		current[r.Describe()] = r.State == health.Current
		done := 0
		for _, is := range current {
			if is {
				done++
			}
		}
		message := r.Describe()
		if r.State != health.Current {
			message += ": " + r.Message
		}
		p.steps.Progress(v1.Progress{Message: message, Done: int64(done), Total: int64(total)})
	}
}

// allCurrent is what is said of an instance that is healthy.
const allCurrent = "every object is as it should be"

// shownUnhealthy is how many objects a condition names.
const shownUnhealthy = 5

// unhealthy is why a pass has not found the objects as they should be.
func unhealthy(rest []health.Reading, err error) string {
	if len(rest) == 0 {
		return why(err)
	}
	return named(rest)
}

// named names the objects that are not as they should be, and why.
func named(rest []health.Reading) (text string) {
	for i, r := range rest {
		if i == shownUnhealthy {
			return fmt.Sprintf("%s; and %d more", text, len(rest)-i)
		}
		if i > 0 {
			text += "; "
		}
		text += r.Describe() + ": " + r.Message
	}
	return text
}
