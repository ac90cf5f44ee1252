package instance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/metadata"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/bundle/certificate"
	"github.com/berthdev/berth/internal/bundle/observe"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/rollout"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch/cause"
)

// never is longer than anybody waits: the context ends sooner.
const never = 365 * 24 * time.Hour

// checkHealth finds out whether the objects are healthy, and waits for that if the pass does.
func (p *pass) checkHealth(ctx context.Context, applier apply.Applier, objects []*unstructured.Unstructured) error {
	if len(p.outcome.Changes.With(apply.Created, apply.Updated, apply.Deleted)) > 0 {
		p.verdicts.Healthy = resource.Unknown(v1alpha1.ReasonUnhealthy, "the objects have just been applied")
	}
	if p.until == UntilInstalled {
		return nil
	}
	if p.until == UntilHealthy || p.outcome.Action != v1.BundleUnchanged {
		if err := p.write(ctx); err != nil { // it is installed, whatever comes of it
			return err
		}
	}
	return p.steps.Do("health", func() (string, error) {
		if err := applier.Watch(ctx, objects); err != nil {
			err = p.denied(err)
			p.verdicts.Healthy = resource.Unknown(v1alpha1.ReasonReconcileFailed,
				"whether the objects are as they should be cannot be seen: "+resource.Why(err))
			return "", err
		}
		rest, err := p.waitForHealth(ctx, applier.Live, objects)
		if err != nil {
			p.verdicts.Healthy = resource.No(p.reasonOf(rest), unhealthy(rest, err))
			if ctx.Err() != nil {
				return "", p.givenUp(ctx, rest)
			}
			if p.until == UntilLookedAt {
				return "", nil // there is another pass
			}
			return "", err
		}
		p.outcome.Healthy = true
		p.verdicts.Healthy = resource.Yes(v1alpha1.ReasonHealthy, allCurrent)
		if len(objects) == 0 {
			return "there are no objects to wait for", nil
		}
		return english.Plural(len(objects), "object") + " as they should be", nil
	})
}

// waitForHealth waits until the objects are healthy if the pass does, and gives those that are
// not; what keeps their pods from running is read with the rights by which they are installed.
func (p *pass) waitForHealth(ctx context.Context, view *live.View,
	objects []*unstructured.Unstructured,
) ([]health.Reading, error) {
	report := p.healthReporter(len(objects))
	if p.until == UntilLookedAt {
		rest, err := health.Wait(ctx, view, objects, 0, nil, report)
		if err != nil && ctx.Err() == nil && p.verdicts.Healthy.Status != metav1.ConditionUnknown {
			rest, _ = p.looker().Look(ctx, rest) // what has just been applied is looked at again in a second
		}
		return rest, err
	}
	l := p.looker()
	l.Policy = l.Policy.Waiting(p.Now())
	behind := l.Follow(func(unseen string) { p.steps.Note("%s", unseen) })
	defer behind.Close()
	return health.Wait(ctx, view, objects, never, behind, report)
}

// looker looks behind workloads with the identity that has installed them.
func (r Reconciler) looker() rollout.Looker {
	p := r.Policy
	if p.Name == "" {
		p = cause.DefaultPolicy()
	}
	return rollout.Looker{Client: r.Installs, Policy: p, Now: r.Now}
}

// reasonOf is the reason for which an instance is not healthy: objects that are on their way, or
// one that will not get there.
func (p *pass) reasonOf(rest []health.Reading) string {
	lasted := never // a pass that waits has waited for what may pass
	if p.until == UntilLookedAt {
		lasted = 0
		c := meta.FindStatusCondition(p.in.Status.Conditions, v1alpha1.ConditionHealthy)
		if c != nil && c.Status == metav1.ConditionFalse {
			lasted = p.Now().Sub(c.LastTransitionTime.Time)
		}
	}
	if health.IsOver(rest, lasted) {
		return v1alpha1.ReasonObjectsFailed
	}
	return v1alpha1.ReasonUnhealthy
}

// lookAgain is how long objects that are not healthy are left alone: as long as that has
// been so, within bounds. Most are on their way and need some seconds.
func lookAgain(since, now time.Time) time.Duration {
	return min(max(now.Sub(since), time.Second), time.Minute)
}

// givenUp is why nobody waits any longer, and for what; that is also on the instance.
func (p *pass) givenUp(ctx context.Context, rest []health.Reading) error {
	err := *fault.From(context.Cause(ctx))
	if err.Code == fault.Conflict { // the lock is lost: another run has the word
		return &err
	}
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), resource.LastWordTime)
	defer cancel()
	_ = p.write(writing) // it is said here in any case
	if err.Hint == "" && len(rest) > 0 {
		err.Hint = failedFirst(rest)[0].Hint()
	}
	return err.WithDetail("still " + p.verdicts.Healthy.Message)
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
		return resource.Why(err)
	}
	return named(rest)
}

// failedFirst are the readings, those before the others that will not get there by themselves.
func failedFirst(rest []health.Reading) []health.Reading {
	failed := func(r health.Reading) int {
		if r.State == health.Failed {
			return 0
		}
		return 1
	}
	return slices.SortedStableFunc(slices.Values(rest), func(a, b health.Reading) int { return failed(a) - failed(b) })
}

// named names the objects that are not as they should be, why, and what to do about it.
func named(rest []health.Reading) (text string) {
	for i, r := range failedFirst(rest) {
		if i == shownUnhealthy {
			return fmt.Sprintf("%s; and %d more", text, len(rest)-i)
		}
		if i > 0 {
			text += "; "
		}
		text += r.Describe() + ": " + r.Message
		if r.Cause != nil && r.Cause.Hint != "" {
			text += " (" + r.Cause.Hint + ")"
		}
	}
	return text
}

// certificateOf is the certificate in a Secret that is there, or is missing.
func certificateOf(secret *unstructured.Unstructured, there bool) v1.BundleCertificate {
	c := v1.BundleCertificate{Secret: secret.GetName(), Namespace: secret.GetNamespace()}
	var ok bool
	if c.EndsAt, c.RenewedFrom, ok = certificate.Ends(secret); !ok {
		c.Message = "the Secret does not exist"
		if there {
			c.Message = "the Secret has no certificate that can be read"
		}
	}
	return c
}

// observe says what a server is to watch: what is installed, and what is to be.
func (p *pass) observe(ctx context.Context, applier apply.Applier, c changing) {
	scopes, err := applier.Scopes(ctx, slices.Concat(c.objects, c.before))
	if err != nil || ctx.Err() != nil {
		return // it stays as it is
	}
	installs := p.Installs
	p.outcome.Watch = observe.Set{
		As: p.account.String(), Scopes: scopes, Client: func() (metadata.Interface, error) {
			return metadata.NewForConfigAndClient(installs.Config, installs.HTTP)
		},
	}
}
