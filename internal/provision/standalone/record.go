package standalone

import (
	"context"
	"errors"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// How long completing the record may take, and the pause between two attempts.
const (
	recordTime  = 5 * time.Second
	recordPause = 200 * time.Millisecond
)

// writeRecord writes Helm's record, pending; in a dry run, as it will be in the end.
// An existing one, of an interrupted run or a deleted pod, is updated after what
// only it names has been removed.
func (t Target) writeRecord(ctx context.Context, turn deploy.Turn, d deploy.Deployment,
	dry apply.DryRun,
) (record *helm.Release, changes apply.Changes, err error) {
	old := turn.Found.Record
	record = release.NewRecord(t.ID, t.Client.Namespace, d.Chart, t.Now())
	if old != nil {
		if d.FromHelmRecord && !release.IsGuarded(old) { // others may have written what it is made of
			delete(record.Labels, release.LabelGuarded)
		}
		if changes, err = t.takeOver(ctx, turn, record, d.Chart, dry); err != nil {
			return nil, changes, err
		}
	}
	switch {
	case dry != apply.DryRunNone:
		record.Info.Status = helm.StatusDeployed
	case turn.Kept: // nothing but the pod is to be created
		release.Deployed(record, t.Now())
	}
	if err := confirmer(turn.Lock)(ctx); err != nil {
		return nil, changes, err
	}
	change, err := t.Records().Write(ctx, record, old != nil && record.Version == old.Version, dry)
	if code := fault.CodeOf(err); turn.Kept &&
		(code == fault.Conflict || code == fault.NotFound && !kube.IsNamespaceMissing(err)) {
		return nil, changes, deploy.ErrChanged
	}
	if err == nil {
		changes = append(changes, change)
	}
	return record, changes, err
}

// takeOver makes a record the next of an older one, of an update the next revision, and
// removes what only the older one names.
func (t Target) takeOver(ctx context.Context, turn deploy.Turn, record *helm.Release, chart *release.Rendered,
	dry apply.DryRun,
) (apply.Changes, error) {
	old := turn.Found.Record
	if turn.Plan == deploy.Update && old.Info.Status == helm.StatusDeployed {
		release.Follow(record, old)
	} else {
		release.Succeed(record, old)
	}
	objects, err := release.Objects(old.Manifest)
	if err != nil {
		return nil, err
	}
	unwanted, kept := apply.Leftovers(objects, chart.Objects, t.Client.Namespace)
	issued, unwanted := split(unwanted, t.isIssued)
	stays, err := inManifest(kept...)
	if err != nil {
		return nil, err
	}
	open, unwanted := split(unwanted, t.opensPort)
	t.warnOfOpen(open)
	names, err := namedIn(append(issued, open...))
	if err != nil {
		return nil, err
	}
	record.Manifest += stays + names
	owned, err := t.find(ctx, unwanted)
	if err != nil {
		return nil, err
	}
	owned.warn(t.Steps)
	return t.applier(turn.Lock, dry).Remove(ctx, append(owned.objects, owned.secrets...))
}

// Complete marks the record as deployed, also if the context ends at this moment. A
// pod whose record has been removed gets a new one.
func (t Target) Complete(ctx context.Context, d deploy.Deployment, result deploy.Result) (err error) {
	record, write := result.Record, t.Records().Update
	switch {
	case record == nil:
		record, write = release.NewRecord(t.ID, t.Client.Namespace, d.Chart, t.Now()), t.Records().Create
	case record.Info.Status == helm.StatusDeployed:
		return nil
	}
	if release.Unsettled(record) {
		defer func() {
			if err == nil {
				t.supersede(ctx, record)
			}
		}()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	release.Deployed(record, t.Now())
	err = wait.PollUntilContextCancel(ctx, recordPause, true, func(ctx context.Context) (done bool, err error) {
		err = write(ctx, record)
		if errors.Is(err, release.ErrExists) { // only the answer to the creation was lost
			return true, nil
		}
		if code := fault.CodeOf(err); code == fault.Conflict || code == fault.NotFound {
			return true, t.completedBy(ctx, record)
		}
		if fault.CodeOf(err) == fault.Unavailable { // the watches outlast that, too
			return false, nil
		}
		return true, err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		// The time may have passed while this process was suspended.
		again, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
		defer cancel()
		if byNow := t.completedBy(again, record); byNow == nil || errors.Is(byNow, lock.ErrTaken) {
			return byNow
		}
		return fault.New(fault.Unavailable, "everything is created, but Helm's record could not be "+
			"completed within %s: %w",
			recordTime, err).
			WithHint("provision again: that completes it")
	}
	return err
}

// revisions is how many of Helm's records of a workspace are kept.
const revisions = 5

// supersede marks the revisions before one that is deployed. Left as they are, they are
// marked by the next update: the newest revision counts.
func (t Target) supersede(ctx context.Context, record *helm.Release) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	if err := t.Records().Supersede(ctx, record, revisions); err != nil {
		t.Steps.Note("Helm's records of earlier revisions stay as they are: %s", err)
	}
}

// completedBy is nil if a record is as this run has written it, of which only the answer
// was lost. ErrTaken says that another run has removed it or written its own.
func (t Target) completedBy(ctx context.Context, record *helm.Release) error {
	now, err := t.Records().Latest(ctx, t.ID)
	switch {
	case err != nil:
		return err
	case now == nil || now.Info == nil:
		return lock.ErrTaken
	case now.Info.LastDeployed.Equal(record.Info.LastDeployed) && now.Info.Status == record.Info.Status:
		return nil
	case now.Version == record.Version && release.SameVersion(now, record):
		return fault.New(fault.Unavailable, "Helm's record is not completed")
	}
	return lock.ErrTaken
}

// refused ends a run whose pod, or what that needs, the cluster refuses. There is no
// pod that shows it, so Helm's record does, for later commands. A refusal of another
// object without a known cause stays the error that it is.
func (t Target) refused(ctx context.Context, held *lock.Lock, d deploy.Deployment, result deploy.Result,
	by *kube.RefusedError, err error,
) (deploy.Result, error) {
	object := by.Call.Object()
	reading := watch.Refused(by.Message, object, t.Now())
	if result.Record == nil || by.Call.Resource != "pods" && reading.Cause.Code != cause.QuotaExceeded {
		return result, err
	}
	release.Refused(result.Record, object, by.Message)
	// If the lock was lost, the record is another run's. Left pending, it is completed
	// by the next run.
	writing, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	if held.Confirm(writing) == nil && writing.Err() == nil {
		_ = t.Records().Update(writing, result.Record)
	}
	result.Reading = d.About.Explain(reading)
	t.Steps.Reached(result.Reading)
	return result, d.About.Failure(reading, t.Policy)
}
