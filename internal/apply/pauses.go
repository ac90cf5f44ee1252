package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
)

// establishedTime is how long a custom resource definition is waited for.
const establishedTime = 30 * time.Second

// established waits, before a wave of custom resources, until the definitions of the set can be used.
func (r *run) established(ctx context.Context, wave []*item) error {
	if _, custom := r.defined[wave[0].Object.GroupVersionKind()]; !custom || r.DryRun != DryRunNone {
		return nil
	}
	view := r.Live
	if view == nil {
		view = live.New(r.Client, labels.Set(r.Owner.Labels).String())
		defer view.Close()
	}
	var definitions []*item
	var targets []target
	for _, it := range r.items {
		if isKind(it.Object, kindDefinition) {
			definitions, targets = append(definitions, it), append(targets, it.target)
		}
	}
	if err := view.Watch(ctx, scopes(targets)...); err != nil {
		return err
	}
	timely, cancel := context.WithTimeout(ctx, establishedTime)
	defer cancel()
	var missing error
	err := view.Until(timely, func() (done bool, err error) {
		missing, err = notEstablished(view, definitions)
		return missing == nil, err
	})
	if err != nil && timely.Err() != nil && ctx.Err() == nil {
		return missing
	}
	return err
}

// notEstablished is the error of the first definition that cannot be used; err is that of one that will not get there.
func notEstablished(view *live.View, definitions []*item) (missing, err error) {
	for _, it := range definitions {
		current, _ := view.Get(it.Resource, it.namespace, it.name)
		state, message := health.InProgress, "it is not there"
		if current != nil {
			it.change.Object = current
			state, message = health.StateOf(current)
		}
		if state == health.Current {
			continue
		}
		problem := fault.New(fault.Failed, "%s is not established: %s", it.describe(), message).
			WithHint("see why: %s", it.kubectlGet())
		if state == health.Failed {
			return problem, problem
		}
		if missing == nil {
			missing = problem
		}
	}
	return missing, nil
}

// How long objects are tried again that a webhook of the same set keeps back: its pods
// have to be started first. The pauses are longer each time.
const (
	webhookTime               = 2 * time.Minute
	webhookFirst, webhookLast = 250 * time.Millisecond, 5 * time.Second
)

// guardedTime is how long the API server may take until it asks a webhook of which it has
// just been told. Nothing says when it does.
const guardedTime = 500 * time.Millisecond

// webhooks are those of a set: the names of admission webhooks, and the groups of custom
// resources that a webhook converts.
type webhooks struct {
	names  []string
	groups []string
}

func webhooksOf(objects []*unstructured.Unstructured) (w webhooks) {
	for _, object := range objects {
		switch {
		case isKind(object, kindMutating, kindValidating):
			hooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
			for _, h := range hooks {
				hook, _ := h.(map[string]any)
				if name, _ := hook["name"].(string); name != "" {
					w.names = append(w.names, name)
				}
			}
		case isKind(object, kindDefinition):
			strategy, _, _ := unstructured.NestedString(object.Object, "spec", "conversion", "strategy")
			group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
			if strategy == "Webhook" {
				w.groups = append(w.groups, group)
			}
		}
	}
	return w
}

// keepsBack says whether an error is that of a webhook of the set that cannot be asked yet: nobody answers, or with a
// certificate that is not known yet. One that denies a request has been asked.
func (w webhooks) keepsBack(err error) bool {
	if err == nil {
		return false
	}
	_, call, failed := strings.Cut(err.Error(), `failed calling webhook "`)
	name, _, _ := strings.Cut(call, `"`)
	if failed {
		return slices.Contains(w.names, name)
	}
	_, call, failed = strings.Cut(err.Error(), "conversion webhook for ")
	version, _, _ := strings.Cut(call, ",")
	gv, parseErr := schema.ParseGroupVersion(version)
	return failed && strings.Contains(call, "failed") && parseErr == nil && slices.Contains(w.groups, gv.Group)
}

// deferred puts an object off until everything else is applied, if a webhook of the set
// keeps it back: what answers that webhook may be applied after it.
func (r *run) deferred(it *item, err error) error {
	if r.DryRun != DryRunNone || isKind(it.Object, kindDefinition, kindNamespace) || !r.webhooks.keepsBack(err) {
		return err
	}
	it.deferred = err
	return nil
}

// guarded waits, before a wave of custom resources, until webhooks that have just been changed are asked about them.
func (r *run) guarded(ctx context.Context, wave []*item) error {
	if _, custom := r.defined[wave[0].Object.GroupVersionKind()]; !custom || r.DryRun != DryRunNone ||
		!r.hasNewWebhook() {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(guardedTime):
		return nil
	}
}

func (r *run) hasNewWebhook() bool {
	return slices.ContainsFunc(r.items, func(it *item) bool {
		return isKind(it.Object, kindMutating, kindValidating) && it.change != nil && it.change.Action != Unchanged
	})
}

// afterWebhooks applies what was put off, again and again for a while.
func (r *run) afterWebhooks(ctx context.Context) error {
	until := time.Now().Add(webhookTime)
	for pause := webhookFirst; ; pause = min(2*pause, webhookLast) {
		var wave []*item
		for _, it := range r.items {
			if it.deferred != nil {
				wave = append(wave, it)
			}
		}
		if len(wave) == 0 {
			return nil
		}
		if time.Now().After(until) {
			return keptBack(wave)
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), wave[0].deferred)
		case <-time.After(pause):
		}
		err := sideBySide(ctx, wave, func(ctx, waiting context.Context, it *item) error {
			it.deferred = nil
			return r.applyAndReport(ctx, waiting, it)
		})
		if err != nil {
			return err
		}
	}
}

// keptBack is the error of objects for which a webhook was waited in vain.
func keptBack(wave []*item) error {
	first := fault.From(wave[0].deferred)
	err := fault.New(fault.Unavailable,
		"%d objects are kept back by a webhook of the same bundle that does not answer: %w", len(wave), first)
	if len(wave) == 1 {
		err = fault.New(fault.Unavailable, "%s is kept back by a webhook of the same bundle that does not answer: %w",
			wave[0].describe(), first)
	}
	return err.WithHint("see whether the pods behind the webhook run, then try again")
}
