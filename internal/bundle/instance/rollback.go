package instance

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
)

// rollBack puts the objects of the recorded release back where an upgrade has failed in
// the middle, and removes those that it has added, or an attempt before it. It returns why
// it failed, and what could not be put back.
func (p *pass) rollBack(ctx context.Context, applier apply.Applier, c changing, because error) error {
	if !c.installed || ctx.Err() != nil {
		return because
	}
	p.steps.Note("putting back what was installed")
	applier.Force, applier.Report = true, nil
	applier.First = true // the view may still have what has just been changed
	_, err := applier.Apply(ctx, apply.Objects(p.Reserved.Allowed(c.before, applier.Namespace)))
	if err == nil {
		var added []*unstructured.Unstructured
		for _, c := range p.outcome.Changes.With(apply.Created) {
			added = append(added, c.Object)
		}
		added = apply.Without(added, c.before, applier.Namespace)
		rest := apply.Without(leftovers(applier, c.before), added, applier.Namespace)
		_, err = applier.Remove(ctx, append(added, rest...))
	}
	failed := *fault.From(because)
	if err != nil {
		failed.Message += "; what was installed before could not be put back: " + err.Error()
	} else {
		failed.Message += "; what was installed before is back"
	}
	return &failed
}
