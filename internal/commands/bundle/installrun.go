package bundle

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Install installs a bundle, or upgrades it.
func Install(ctx context.Context, o *InstallOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	values, err := o.values(ctx, o.IO)
	if err != nil {
		return err
	}
	r, err := o.Open(ctx, o.System)
	if err != nil {
		return err
	}
	r.Force, r.RenderTime = o.ForceConflicts, o.RenderTimeout
	conf := v1alpha1.Config{Values: string(values), Namespace: r.Own.Namespace}
	title := wording.Title{ID: o.Name, Namespace: conf.Namespace, Verb: "bundle install", Flags: o.Flags}
	return o.run(ctx, r, title, o.fetching(conf))
}

// prepare finds what is to be installed, and looks up what there is. The content of the request is to be closed.
type prepare func(ctx context.Context, r instance.Reconciler, steps *event.Steps) (instance.Request, instance.Snapshot,
	error)

// run installs what is prepared, or says what that would change.
func (o *InstallOptions) run(ctx context.Context, r instance.Reconciler, title wording.Title, prepare prepare) error {
	if o.DryRun != "" {
		changes, err := o.preview(ctx, r, prepare)
		return batch.PrintChanges(ctx, o.IO, o.Output, o.DryRun, changes, err)
	}
	one := func(ctx context.Context, m batch.Member) v1.Result {
		installation, err := o.install(ctx, r, prepare, event.NewSteps(m.Stream, time.Now))
		if err != nil {
			failed := result.NewError(cmdutil.Because(ctx, err))
			if o.goesOn != "" {
				failed.Hint = strings.TrimSpace(failed.Hint + "; `" + o.goesOn + "` goes on with the rollback")
				failed.Hint = strings.TrimPrefix(failed.Hint, "; ")
			}
			return v1.Result{Error: failed}
		}
		return v1.Result{Installation: installation}
	}
	return batch.Work{IO: o.IO, Output: o.Output, Batch: batch.Single("", title), One: one}.Run(ctx)
}

// fetching prepares an installation of what the command line says.
func (o *InstallOptions) fetching(conf v1alpha1.Config) prepare {
	return func(ctx context.Context, r instance.Reconciler, steps *event.Steps) (instance.Request, instance.Snapshot,
		error,
	) {
		return o.fetched(ctx, r, conf, steps)
	}
}

// fetched fetches the bundle, reads all of it, and looks up what there is.
func (o *InstallOptions) fetched(
	ctx context.Context, r instance.Reconciler, conf v1alpha1.Config, steps *event.Steps,
) (q instance.Request, known instance.Snapshot, err error) {
	q = instance.Request{
		Name: o.Name, Class: o.class(), Format: o.Format, Config: conf, Until: instance.UntilHealthy,
		KeepWatch:  o.Watch == nil,
		KeepValues: len(o.ValuesFiles) == 0 && o.Set.IsZero() && !o.ResetValues,
		Source:     v1alpha1.Source{Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{}},
	}
	q.Config.WatchNamespaces = o.Watch
	if o.NoWait {
		q.Until = instance.UntilInstalled
	}
	if o.target.Source != nil {
		q.Source = *o.target.Source
	}
	err = steps.Parallel(
		event.Step{Name: "fetch", Do: func() (_ string, err error) {
			f := r.Fetcher
			f.Progress = steps.Progress
			if q.Content, q.Resolved, err = o.fetch(ctx, f, o.IO); err != nil {
				return "", err
			}
			return english.Plural(q.Content.Files, "file"), nil
		}},
		event.Step{Name: "lookup", Quiet: true, Do: func() (_ string, err error) {
			known, err = r.Snapshot(ctx, o.Name)
			return "", err
		}},
	)
	if err == nil {
		q.Config.Namespace, err = known.Keep(r.System, conf.Namespace, o.Namespaced)
		if q.ServiceAccount = o.ServiceAccount; !o.AccountGiven {
			q.ServiceAccount = known.ServiceAccount()
		}
	}
	err = checked(ctx, r, &q, known, steps, err)
	return q, known, err
}

// checked reads all of what a request has, unless preparing it has failed with err; then it has no content any more.
func checked(
	ctx context.Context, r instance.Reconciler, q *instance.Request, known instance.Snapshot, steps *event.Steps,
	err error,
) error {
	if err == nil {
		err = steps.Do("check", func() (string, error) {
			if err := r.Load(ctx, q, known); err != nil {
				return "", err
			}
			return string(q.Package.Format), nil
		})
	}
	if err != nil && q.Content != nil {
		_ = q.Content.Close()
	}
	return err
}

// install does it, step by step.
func (o *InstallOptions) install(
	ctx context.Context, r instance.Reconciler, prepare prepare, steps *event.Steps,
) (*v1.BundleInstallation, error) {
	q, known, err := prepare(ctx, r, steps)
	if err != nil {
		return nil, err
	}
	defer q.Content.Close()
	for _, warning := range q.Package.Warnings {
		steps.Warn("Bundle", "", warning)
	}
	if note := noteValues(known, q); note != "" {
		steps.Note("%s", note)
	}
	if moved := known.Moved(q.Package); len(moved) > 0 {
		steps.Note("what the chart depends on: %s", strings.Join(moved, ", "))
	}
	if o.CreateNamespace {
		if err := r.CreateNamespace(ctx, q.Config.Namespace); err != nil {
			return nil, err
		}
	}
	out, err := r.Install(ctx, q, known, steps)
	if err != nil {
		return nil, err
	}
	return o.document(r, q, out, steps), nil
}

// noteValues says what an upgrade does with the values of the last installation; empty if there
// were none, or they stay as they are because they were given again.
func noteValues(known instance.Snapshot, q instance.Request) string {
	before, err := known.Values()
	switch {
	case err != nil || known.Instance == nil:
		return ""
	case q.KeepValues && before != "" && q.Config.Values == before:
		return "the values of the last installation are used again; --reset-values drops them"
	}
	const most = 10
	changes := chart.CompareValues([]byte(before), []byte(q.Config.Values))
	switch n := len(changes) - most; {
	case len(changes) == 0:
		return ""
	case n > 0:
		changes = append(changes[:most], english.Count(n, "other"))
	}
	return "values: " + strings.Join(changes, ", ")
}

// preview is what would change; nobody sees the steps.
func (o *InstallOptions) preview(
	ctx context.Context, r instance.Reconciler, prepare prepare,
) (apply.Changes, error) {
	steps := event.NewSteps(event.NewStream(o.Name, time.Now), time.Now)
	defer steps.Finish(v1.Result{})
	q, known, err := prepare(ctx, r, steps)
	if err != nil {
		return nil, err
	}
	defer q.Content.Close()
	return r.Preview(ctx, q, known, o.DryRun)
}

// document is what was done.
func (o *InstallOptions) document(
	r instance.Reconciler, q instance.Request, out instance.Outcome, steps *event.Steps,
) *v1.BundleInstallation {
	count := func(action apply.Action) int { return len(out.Changes.With(action)) }
	return &v1.BundleInstallation{
		Name: o.Name, Action: out.Action, Bundle: out.Bundle, Previous: out.Previous, Revision: out.Revision,
		RolledBackTo: q.Revision,
		Content:      describe(cmp.Or(o.Arg, resource.Describe(q.Source)), q.Content, q.Package),
		Namespace:    q.Config.Namespace, SystemNamespace: r.System,
		Objects: v1.BundleChanges{
			Created: count(apply.Created), Updated: count(apply.Updated), Deleted: count(apply.Deleted),
			Unchanged: count(apply.Unchanged),
		},
		Healthy: out.Healthy, Notes: out.Notes, Timing: steps.Timing(r.Own.Requests.Count()),
	}
}
