// Package hooks runs the hooks of a chart: objects that are made before or after the others, and are waited for.
package hooks

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Policy says when a hook is deleted.
type Policy string

// The policies of Helm. A hook without a policy is deleted before it is made again.
const (
	BeforeCreation Policy = "before-hook-creation"
	Succeeded      Policy = "hook-succeeded"
	Failed         Policy = "hook-failed"
)

// Hook is an object that is run at some events, such as pre-install. Those of lower weight come first.
type Hook struct {
	Object *unstructured.Unstructured
	Events []string
	Weight int
	Delete []Policy
}

// Annotation is on what a hook has made, with the events of the hook: it is not one of the
// objects that an upgrade replaces and an uninstallation removes.
const Annotation = "berth.dev/hook"

// IsHook is true for an object of the cluster that a hook has made.
func IsHook(object *unstructured.Unstructured) bool { return object.GetAnnotations()[Annotation] != "" }

func (h Hook) deleted(when Policy) bool {
	return slices.Contains(h.Delete, when) || len(h.Delete) == 0 && when == BeforeCreation
}

// At are the hooks of an event in the order in which they run: by weight, then by kind and name.
func At(hooks []Hook, event string) []Hook {
	some := slices.DeleteFunc(slices.Clone(hooks), func(h Hook) bool { return !slices.Contains(h.Events, event) })
	slices.SortStableFunc(some, func(a, b Hook) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), strings.Compare(a.Object.GetKind(), b.Object.GetKind()),
			strings.Compare(a.Object.GetName(), b.Object.GetName()))
	})
	return some
}

// Run runs the hooks of an event one after the other: what is left of an earlier run is removed, the object made, and a
// Job or a Pod waited for until it has ended. The applier has a view of the objects of the owner. told is called before
// each. The first that fails ends it, with an error that says where its log is.
func Run(ctx context.Context, applier apply.Applier, hooks []Hook, event string, timeout time.Duration,
	told func(Hook),
) error {
	for _, hook := range At(hooks, event) {
		told(hook)
		if err := run(ctx, applier, hook, timeout); err != nil {
			return fault.New(fault.From(err).Code, "hook %s of %s: %w", describe(hook.Object), event, err).
				WithHint("%s", hintOf(placed(ctx, applier, hook.Object)))
		}
	}
	return nil
}

// run runs one hook and deletes it as its policies say.
func run(ctx context.Context, applier apply.Applier, hook Hook, timeout time.Duration) error {
	if hook.deleted(BeforeCreation) {
		if err := remove(ctx, applier, hook); err != nil {
			return err
		}
	}
	making := applier
	making.First = true // the view may still have what has just been removed
	object := hook.Object.DeepCopy()
	kube.Annotate(object, Annotation, strings.Join(hook.Events, ","))
	objects := []*unstructured.Unstructured{object}
	changes, err := making.Apply(ctx, apply.Objects(objects))
	if err == nil {
		err = applier.Watch(ctx, objects)
	}
	if err == nil {
		err = ended(ctx, applier.Live, changes.Objects(), timeout)
	}
	when := Succeeded
	if err != nil {
		when = Failed
	}
	if hook.deleted(when) {
		if removal := remove(context.WithoutCancel(ctx), applier, hook); err == nil {
			err = removal
		}
	}
	return err
}

func remove(ctx context.Context, applier apply.Applier, hook Hook) error {
	own, _, err := applier.Find(ctx, []*unstructured.Unstructured{hook.Object}, applier.Owner.Owns)
	if err != nil || len(own) == 0 {
		return err
	}
	_, err = applier.Remove(ctx, own)
	return err
}

// ended waits until Jobs and Pods have done their work; other objects have none.
func ended(ctx context.Context, view *live.View, objects []*unstructured.Unstructured, timeout time.Duration) error {
	timely, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := view.Until(timely, func() (bool, error) {
		all := true
		for _, object := range objects {
			done, err := outcome(view, object)
			if err != nil {
				return false, err
			}
			all = all && done
		}
		return all, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && timely.Err() != nil && ctx.Err() == nil {
		return fault.New(fault.DeadlineExceeded, "timed out after %s", timeout)
	}
	return err
}

// outcome says whether an object has done its work, and how it failed.
func outcome(view *live.View, object *unstructured.Unstructured) (done bool, err error) {
	if kind := object.GetKind(); kind != "Job" && kind != "Pod" {
		return true, nil
	}
	for _, current := range view.Objects() {
		if current.GetUID() == object.GetUID() {
			object = current
		}
	}
	state, message := health.StateOf(object)
	if state == health.Failed {
		return true, fault.New(fault.Failed, "%s", message)
	}
	if phase, _, _ := unstructured.NestedString(object.Object, "status", "phase"); phase == "Succeeded" {
		return true, nil
	}
	completed, _, _ := unstructured.NestedString(object.Object, "status", "completionTime")
	return completed != "", nil
}

func describe(object *unstructured.Unstructured) string {
	return kube.Object(object.GetKind(), object.GetName())
}

// placed is the object with the namespace that it is made in, if the cluster says.
func placed(ctx context.Context, applier apply.Applier, object *unstructured.Unstructured) *unstructured.Unstructured {
	if all, err := applier.Placed(context.WithoutCancel(ctx), []*unstructured.Unstructured{object}); err == nil {
		return all[0]
	}
	return object
}

// hintOf is where one sees why a hook has failed.
func hintOf(object *unstructured.Unstructured) string {
	verb := "describe"
	if kind := object.GetKind(); kind == "Job" || kind == "Pod" {
		verb = "logs"
	}
	words := []string{"kubectl", verb, describe(object)}
	if namespace := object.GetNamespace(); namespace != "" {
		words = append(words, "--namespace", namespace)
	}
	return "see why: " + fault.Command(words...)
}
