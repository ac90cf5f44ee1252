package provision

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/limit"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

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
// server whether it admits the next one. Without a pod of its own there is nothing to lose, but
// nothing is begun either without the drivers of its scratch storages.
func (p *Provisioner) startsAgain(ctx context.Context, t *inventory.Target, stream *event.Stream) error {
	old := t.Found.Pod
	if old == nil || old.DeletionTimestamp != nil {
		return p.hasDrivers(ctx, t, stream)
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
	if err := s.checkRecordedDrivers(ctx, dec); err != nil {
		return err
	}
	return s.notAdmitted(dec.deployment, old, s.tryPod(ctx, dec.deployment))
}

// hasDrivers looks for the drivers of the scratch storages of a workspace that has no pod of its own. A workload has
// them in its template; of what else it is made of the records say it, and without them the start says so.
func (p *Provisioner) hasDrivers(ctx context.Context, t *inventory.Target, stream *event.Stream) error {
	if w := t.Found.Workload; w.Injected() {
		template, _, _ := unstructured.NestedMap(w.Object, "spec", "template")
		name, _, _ := unstructured.NestedString(template, "metadata", "labels", kube.LabelBlueprint)
		return p.checkDrivers(ctx, manifest.ScratchOfPod(t.ID, template), nil, name)
	}
	values, err := p.session(t.ID, t.Found.WorkloadRef(), stream).valuesOf(ctx, t.Found)
	if err != nil {
		return nil //nolint:nilerr // what is wrong with a record, the start says
	}
	values, from := manifest.OfJob(values, "")
	return p.checkDrivers(ctx, manifest.ScratchOf(values), nil, from.Name)
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
