package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/limit"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Stop ends the pods of a workspace that Find has found, and waits until they are gone if
// that is wanted. Everything else stays: its storage, its configuration, its records. What
// is wanted is recorded first, so that it comes about even if the caller is killed in between.
func (p *Provisioner) Stop(ctx context.Context, t *inventory.Target, wait bool, stream *event.Stream) (*v1.Stop,
	error,
) {
	return p.in(t.Namespace).halt(ctx, t, v1.DesiredStopped, wait, stream)
}

// halt ends the pods of a workspace that is to be stopped, or restarted.
func (p *Provisioner) halt(ctx context.Context, t *inventory.Target, desired v1.DesiredState, wait bool,
	stream *event.Stream,
) (*v1.Stop, error) {
	s := p.session(t.ID, t.Found.WorkloadRef(), stream)
	stop := &v1.Stop{ID: t.ID, Namespace: t.Namespace, UserString: t.Found.UserString()}
	ctx, cancel := context.WithCancel(ctx) // the watches end with this call
	defer cancel()
	var removal deploy.Removal
	var wanted lifecycle.Record
	begun := s.Now().UTC()
	err := s.steps.Do("stop", func() (_ string, err error) {
		removal, wanted, err = s.stop(ctx, t.Found, desired, wait)
		return removal.Done, err
	})
	stop.Stopped = err == nil && removal.Gone
	stop.Already = stop.Stopped && wanted.DesiredAt.Before(begun) // one whose pod is gone was not stopped
	var left deploy.Left
	if err == nil && wait && !removal.Gone {
		left, err = s.target.AwaitGone(ctx, removal)
		stop.Stopped = left.Gone
	}
	s.state().ObserveStop(ctx, wanted, stop.Stopped, err)
	stop.Seconds = s.steps.Timing(0).Seconds
	return stop, s.notStopped(ctx, left, err)
}

// stop goes from the permissions to the end of the pods: gather, decide, acquire, record, apply.
func (s session) stop(ctx context.Context, found inventory.Found, desired v1.DesiredState,
	wait bool,
) (removal deploy.Removal, wanted lifecycle.Record, err error) {
	may, err := s.permissions(ctx)
	if err != nil {
		return removal, wanted, err
	}
	if err := s.target.MayStop(may); err != nil {
		return removal, wanted, err
	}
	held, err := s.lockFor(ctx, deploy.ForStopping)
	if err != nil {
		return removal, wanted, err
	}
	defer deploy.Release(ctx, held)
	// It may have been started since, or, where an intent is carried out, stopped by the command
	// that recorded it; a pod is known by its UID.
	if s.Intent != nil || found.Pod == nil && found.Workload == nil {
		if found, err = s.target.Lookup(ctx); err != nil {
			return removal, wanted, err
		}
	}
	if s.Intent != nil && found.Workload == nil && (found.Pod == nil || found.Pod.DeletionTimestamp != nil) {
		return removal, wanted, s.state().Superseded()
	}
	if wanted, err = s.state().Set(ctx, held, desired, found); err != nil {
		return removal, wanted, err
	}
	removal, err = s.target.Stop(ctx, deploy.Turn{Lock: held, Found: found}, wait)
	return removal, wanted, err
}

// notStopped gives a stop that its context ended the reason for that, and what is still
// there.
func (s session) notStopped(ctx context.Context, left deploy.Left, err error) error {
	why, ended := reason(ctx, err)
	switch {
	case !ended:
		return err
	case why.Code != fault.DeadlineExceeded:
		return why
	}
	why.Hint = cmp.Or(left.Hint, "continue with `"+kube.Command("stop", s.id, s.Client.Namespace)+"`")
	return why.WithDetail(cmp.Or(left.What, fmt.Sprintf("workspace %s is not stopped yet", s.id)))
}

// Start brings up a workspace that was stopped, as it was: what it is made of comes from
// its records, its blueprint is not read. It ends as Provision does.
func (p *Provisioner) Start(ctx context.Context, t *inventory.Target, stream *event.Stream) (Outcome, error) {
	return p.in(t.Namespace).start(ctx, t, t.Found.UserString(), stream)
}

// start is Start of the workspace of a user string; if that is empty, what is recorded says it.
func (p *Provisioner) start(ctx context.Context, t *inventory.Target, user string, stream *event.Stream) (Outcome,
	error,
) {
	u, err := p.State("", t.ID, userstring.Workload{}).UserString(ctx, user)
	if err != nil {
		return Outcome{}, interrupted(ctx, nil, progress{}, err)
	}
	s := p.begin(u, stream)
	ctx, stop := context.WithCancel(ctx) // the watches end with the run
	defer stop()
	dec, err := s.loadRecorded(ctx, t.Found)
	if err != nil {
		return Outcome{}, interrupted(ctx, nil, progress{}, err)
	}
	return s.run(ctx, dec)
}

// Restart stops a workspace and starts it again, as it was. The desired state says so
// in between, so that a run that is killed leaves a restart rather than a stop. Nothing is
// stopped that would not start again.
func (p *Provisioner) Restart(ctx context.Context, t *inventory.Target, stream *event.Stream) (Outcome, error) {
	p = p.in(t.Namespace)
	if err := p.startsAgain(ctx, t, stream); err != nil {
		return Outcome{}, p.session(t.ID, t.Found.WorkloadRef(), stream).notStopped(ctx, deploy.Left{}, err)
	}
	if _, err := p.halt(ctx, t, v1.DesiredRestart, true, stream); err != nil {
		return Outcome{}, err
	}
	stopped := *t
	var err error
	if stopped.Found, err = p.session(t.ID, t.Found.WorkloadRef(), stream).target.Lookup(ctx); err != nil {
		return Outcome{}, err
	}
	return p.start(ctx, &stopped, t.Found.UserString(), stream)
}

// startsAgain makes the checks of a start before the pod of a workspace goes, and asks the API
// server whether it admits the next one. Without a pod of its own there is nothing to lose.
func (p *Provisioner) startsAgain(ctx context.Context, t *inventory.Target, stream *event.Stream) error {
	old := t.Found.Pod
	if old == nil || old.DeletionTimestamp != nil {
		return nil
	}
	u, err := p.State("", t.ID, userstring.Workload{}).UserString(ctx, t.Found.UserString())
	if err != nil {
		return err
	}
	s := p.begin(u, stream)
	found := t.Found
	if found.Record == nil { // to a caller who may not list them there are none
		if found, err = s.target.Lookup(ctx); err != nil {
			return err
		}
	}
	dec, err := s.loadRecorded(ctx, found)
	if err != nil {
		return err
	}
	return s.notAdmitted(dec.deployment, old, s.tryPod(ctx, dec.deployment))
}

// noDryRun is what the API server says of a webhook that it does not call in a dry run.
const noDryRun = "does not support dry run"

// tryPod is the answer of the API server to the pod of a deployment, of which nothing is kept. It
// asks admission before it finds that there is a pod of that name.
func (s session) tryPod(ctx context.Context, d deploy.Deployment) error {
	var pod corev1.Pod
	object := kube.OfKind(d.Objects, watch.KindPod)
	if object == nil {
		return nil // the start says so
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &pod); err != nil {
		return fmt.Errorf("pod: %w", err)
	}
	options := metav1.CreateOptions{FieldManager: kube.FieldManager, DryRun: []string{metav1.DryRunAll}}
	_, err := s.Client.CoreV1().Pods(s.Client.Namespace).Create(ctx, &pod, options)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return kube.Fault(err, kube.Call{Verb: "create", Resource: "pods", Namespace: s.Client.Namespace, Name: s.id})
}

// notAdmitted is the error of a pod that the API server refuses, although the old one makes room
// for it. A quota that does not say what it counts may pass then, and a webhook that answers no
// dry runs says nothing of the pod.
func (s session) notAdmitted(d deploy.Deployment, old *corev1.Pod, err error) error {
	by, refused := errors.AsType[*kube.RefusedError](err)
	if !refused {
		return err
	}
	room, known := limit.FitsAfterReplacing(err, old)
	if room || !known && strings.Contains(by.Message, limit.ExceededQuota) || strings.Contains(by.Message, noDryRun) {
		return nil
	}
	again := deploy.About(func(c *v1.Cause) cause.About {
		about := d.About(c)
		about.Verb = "restart"
		return about
	})
	why := fault.From(again.Failure(watch.Refused(by.Message, by.Call.Object(), s.Now()), s.Policy))
	why.Message, why.Err = "the workspace was not stopped, as its next pod would be refused: "+why.Message, err
	return why
}
