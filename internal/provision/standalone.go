package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
)

// carryOut does what was decided, with the lock in hand, and follows the pod to
// Running or to a failure.
func (r *run) carryOut(ctx context.Context, held *lock.Lock, p plan) error {
	record, err := r.write(ctx, held, p)
	if errors.Is(err, release.ErrExists) {
		// Somebody worked between the lookup and the lock: look at what they left.
		if p, err = r.surveyAgain(ctx); err != nil {
			return err
		}
		if p == refuse {
			p = resume
		}
		return r.carryOut(ctx, held, p)
	}
	r.beginJob(ctx, p)
	if err != nil {
		return err
	}
	if r.NoWait {
		return r.deployed(ctx, record)
	}
	// Nobody waits for the record to be complete, but it is before the lock is
	// given back.
	deployed := make(chan error, 1)
	go func() { deployed <- r.deployed(ctx, record) }()
	err = r.follow(ctx)
	if recordErr := <-deployed; err == nil {
		return recordErr
	}
	return err
}

// write is all that may be done only while the lock is held: it ends with it.
func (r *run) write(ctx context.Context, held *lock.Lock, p plan) (*helm.Release, error) {
	mine, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-held.Lost():
			cancel(lock.ErrTaken)
		case <-mine.Done():
		}
	}()
	err := r.prepare(mine, p)
	if err == nil {
		err = held.Confirm(mine)
	}
	var record *helm.Release
	if err == nil {
		record, err = r.bringUp(mine, p)
	}
	if refused, is := errors.AsType[*kube.RefusedError](err); is {
		err = cmp.Or(r.refused(mine, held, record, refused), err)
	}
	if err != nil && ctx.Err() == nil && mine.Err() != nil {
		err = context.Cause(mine)
	}
	return record, err
}

// prepare makes room for a new pod where an old one stands.
func (r *run) prepare(ctx context.Context, p plan) error {
	if p != replace && p != await || r.found.Workload != nil {
		return nil
	}
	return r.steps.do("clean up", func() (string, error) {
		pod := r.found.Pod
		if p == replace {
			err := r.Client.CoreV1().Pods(r.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
			if err = kube.Fault(err, kube.Call{Verb: "delete", Resource: "pods", Namespace: r.namespace, Name: pod.Name}); err != nil && fault.CodeOf(err) != fault.NotFound {
				return "", err
			}
		}
		return "the old pod is gone", r.follower.WaitGone(ctx, pod.UID)
	})
}

// bringUp makes sure that record and objects are there, and says which pod is
// the one to follow.
func (r *run) bringUp(ctx context.Context, p plan) (*helm.Release, error) {
	if r.found.Workload != nil {
		return nil, r.injected(p, r.inject(ctx, p))
	}
	if p == resume {
		r.follower.Expect(r.found.Pod.UID)
		r.latest = r.found.Reading
		return r.found.Record, nil
	}
	spec := r.spec()
	if err := r.share(ctx, spec); err != nil {
		return nil, err
	}
	var record *helm.Release
	err := r.steps.do("install", func() (string, error) {
		var err error
		if record, err = r.record(ctx); err != nil {
			return "", err
		}
		changes, err := r.installer().Apply(ctx, r.wantedOfRelease(spec))
		r.creation.add(changes)
		if err != nil {
			return "", err
		}
		r.warnOfClaims(r.rendered.Objects, changes)
		r.expect(changes)
		return fmt.Sprintf("%d objects", len(r.rendered.Objects)), nil
	})
	return record, err
}

// share makes what the namespace's workspaces have in common, where the
// blueprint or the configuration asks for something of the kind.
func (r *run) share(ctx context.Context, spec manifest.Spec) error {
	wanted := spec.Shared()
	if len(wanted) == 0 {
		return nil
	}
	return r.steps.do("share", func() (string, error) {
		changes, err := r.sharer().Apply(ctx, wanted)
		if err != nil {
			return "", err
		}
		r.warnOfClaims(apply.Unwrap(wanted), changes)
		return fmt.Sprintf("%d objects of the namespace", len(changes)), nil
	})
}

// expect follows the pod among the objects that were made. How it stands as it
// was made is all that is told where nobody waits.
func (r *run) expect(changes apply.Changes) {
	for _, change := range changes {
		object := change.Object
		if object.GetKind() != "Pod" {
			continue
		}
		r.follower.Expect(object.GetUID())
		var pod corev1.Pod
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &pod) == nil && r.NoWait {
			r.found.Pod, r.latest = &pod, r.Read(&pod)
			r.steps.reached(r.latest)
		}
	}
}
