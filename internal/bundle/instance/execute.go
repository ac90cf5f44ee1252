package instance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/certificate"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/release"
)

// execute makes a change: the record of an installation or an upgrade is written before
// and after the objects. A repair has none.
func (p *pass) execute(ctx context.Context, applier apply.Applier, pkg *format.Package, c changing) error {
	if err := p.certify(ctx, applier, &c); err != nil {
		return err
	}
	if c.todo == toRepair {
		p.outcome.Revision = c.current.Version
		return p.applyAll(ctx, applier, c)
	}
	p.outcome.Revision = c.next.Version
	if err := p.records().Create(ctx, c.next); err != nil {
		return err
	}
	if release.IsInChunks(c.next) {
		p.steps.Warn("LargeRelease", "",
			"the release does not fit into one Secret: helm lists it, and can neither read nor uninstall it")
	}
	err := p.runHooks(ctx, applier, pkg, "pre", c.todo)
	if err == nil {
		err = p.applyAll(ctx, applier, c)
	}
	if err == nil {
		if err = p.runHooks(ctx, applier, pkg, "post", c.todo); err != nil {
			err = p.rollBack(ctx, applier, c, err)
		}
	}
	return p.conclude(ctx, c.next, err)
}

// certify fills the certificates of what is served into the objects, which their record does not have.
func (p *pass) certify(ctx context.Context, applier apply.Applier, c *changing) error {
	set, err := p.certificates(ctx, applier, slices.Concat(c.objects, c.before), c.current != nil)
	if set == nil || err != nil {
		return err
	}
	c.objects, c.before = set.Fill(c.objects), set.Fill(c.before)
	there, live := c.before, seenBy(ctx, applier)
	if !c.installed {
		there = c.objects
	}
	c.ahead = [][]*unstructured.Unstructured{
		set.Trusting(p.Reserved.Allowed(there, applier.Namespace), live), set.Renewed(c.objects, live),
	}
	if made := set.Made(); len(c.ahead[0]) > 0 {
		p.steps.Note("renewing the certificate in %s", strings.Join(made, ", "))
	}
	return nil
}

// renew applies what trusts new certificates, and then the certificates, before anything is started again that serves
// with one. Nobody else has a say in these fields.
func (p *pass) renew(ctx context.Context, applier apply.Applier, c changing) error {
	applier.Force = true
	for _, objects := range c.ahead {
		if len(objects) == 0 {
			continue
		}
		if _, err := applier.Apply(ctx, apply.Objects(objects)); err != nil {
			return inBundle(err)
		}
	}
	return nil
}

// certificates are those of some objects, with what the cluster has of them if anything of the release is there; nil if
// none of them has one.
func (r Reconciler) certificates(ctx context.Context, applier apply.Applier, objects []*unstructured.Unstructured,
	installed bool,
) (*certificate.Set, error) {
	involved := certificate.Involved(objects)
	if len(involved) == 0 {
		return nil, nil
	}
	if installed {
		if err := applier.Watch(ctx, involved); err != nil {
			return nil, err
		}
	}
	return certificate.Of(involved, seenBy(ctx, applier), r.Now())
}

// seenBy finds what the view of an applier has of an object of a kind that it watches.
func seenBy(ctx context.Context, applier apply.Applier) certificate.Live {
	return func(object *unstructured.Unstructured) *unstructured.Unstructured {
		resource, known, err := applier.ResourceOf(ctx, object.GroupVersionKind())
		if err != nil || !known {
			return nil
		}
		found, _ := applier.Live.Get(resource, object.GetNamespace(), object.GetName())
		return found
	}
}

// applyAll applies the objects and removes those that are not wanted any more.
func (p *pass) applyAll(ctx context.Context, applier apply.Applier, c changing) error {
	return p.steps.Do("install", func() (string, error) {
		if c.current != nil {
			if err := applier.Watch(ctx, slices.Concat(c.objects, c.before)); err != nil {
				return "", err
			}
			if err := watchAttempted(ctx, applier, c.attempted); err != nil {
				return "", err
			}
		}
		if err := p.renew(ctx, applier, c); err != nil {
			return "", err
		}
		applier.Report, applier.First = p.reporter(len(c.objects)), c.current == nil
		changes, err := applier.Apply(ctx, apply.Objects(c.objects))
		p.outcome.Changes = changes
		if fault.ReasonOf(err) == apply.ReasonNothingWritten {
			return "", inBundle(err)
		}
		if err != nil {
			return "", p.rollBack(ctx, applier, c, inBundle(err))
		}
		if c.current != nil { // at first there is nothing to be left over
			var removed apply.Changes
			removed, err = applier.Remove(ctx, leftovers(applier, c.objects))
			p.outcome.Changes = append(p.outcome.Changes, removed...)
		}
		if err != nil {
			return "", p.rollBack(ctx, applier, c, err)
		}
		return english.Count(len(c.objects), "object"), nil
	})
}

// reporter tells of each object as it is done.
func (p *pass) reporter(total int) func(apply.Change) {
	var done int64
	return func(c apply.Change) {
		done++
		p.steps.Progress(v1.Progress{
			Message: fmt.Sprintf("%s %s/%s", c.Action, c.Object.GetKind(), c.Object.GetName()),
			Done:    done, Total: int64(total),
		})
	}
}

// rollBack puts the objects of the recorded release back where an upgrade has failed in
// the middle, and removes those that it has added, or an attempt before it. It returns why
// it failed, and what could not be put back. Nothing is put back of a first installation,
// after an interruption, or where nothing was written yet; objects that do not become healthy stay.
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
