package provision

import (
	"context"
	"errors"
	"fmt"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
)

// carryOut does what was decided, with the lock in hand, and follows the pod to
// Running or to a failure.
func (r *run) carryOut(ctx context.Context, p plan) error {
	if err := r.prepare(ctx, p); err != nil {
		return err
	}
	record, err := r.bringUp(ctx, p)
	if errors.Is(err, release.ErrExists) {
		// Somebody worked between the lookup and the lock: look at what they left.
		if r.found, err = r.lookup(ctx, r.id); err != nil {
			return err
		}
		p = r.found.decide()
		if p == refuse {
			p = resume
		}
		return r.carryOut(ctx, p)
	}
	if err != nil {
		return err
	}
	// Nobody waits for the record to be complete, but it is before the lock is
	// given back.
	deployed := make(chan error, 1)
	go func() { deployed <- r.deployed(ctx, record) }()
	err = r.follow(ctx)
	return errors.Join(err, <-deployed)
}

// prepare makes room for a new pod where an old one stands.
func (r *run) prepare(ctx context.Context, p plan) error {
	if p != replace && p != await {
		return nil
	}
	return r.steps.do("clean up", func() (string, error) {
		pod := r.found.pod
		if p == replace {
			err := r.Client.CoreV1().Pods(r.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
			if err = kube.Fault(err, kube.Call{Verb: "delete", Resource: "pods", Namespace: r.namespace, Name: pod.Name}); err != nil && !isNotFound(err) {
				return "", err
			}
		}
		return "the old pod is gone", r.follower.WaitGone(ctx, pod.UID)
	})
}

// bringUp makes sure that record and objects are there, and says which pod is
// the one to follow.
func (r *run) bringUp(ctx context.Context, p plan) (*helm.Release, error) {
	if p == resume {
		r.follower.Expect(r.found.pod.UID)
		return r.found.record, nil
	}
	var record *helm.Release
	err := r.steps.do("install", func() (string, error) {
		var err error
		if record, err = r.record(ctx); err != nil {
			return "", err
		}
		made, err := r.applier(r.id).Apply(ctx, r.rendered.Objects)
		if err != nil {
			return "", err
		}
		for _, object := range made {
			if object.GetKind() == "Pod" {
				r.follower.Expect(object.GetUID())
			}
		}
		return fmt.Sprintf("%d objects", len(made)), nil
	})
	return record, err
}

// record writes Helm's record, pending. One that is there, left by a run that
// was cut off or by a pod that somebody deleted, is used again; objects that it
// names and that are not wanted any more go first, so that none is forgotten.
func (r *run) record(ctx context.Context) (*helm.Release, error) {
	record := release.NewRecord(r.id, r.namespace, r.rendered, r.Now())
	old := r.found.record
	if old == nil {
		return record, r.records().Create(ctx, record)
	}
	objects, err := release.Objects(old.Manifest)
	if err != nil {
		return nil, err
	}
	unwanted, keep := release.Leftovers(objects, r.rendered.Objects)
	if _, err := r.applier(r.id).Remove(ctx, unwanted); err != nil {
		return nil, err
	}
	for _, object := range keep {
		record.Manifest += manifestOf(object)
	}
	record.Version = old.Version
	record.Info.FirstDeployed = old.Info.FirstDeployed
	return record, r.records().Update(ctx, record)
}

func manifestOf(object *unstructured.Unstructured) string {
	text, err := yaml.Marshal(object.Object)
	if err != nil {
		return "" // it was read from YAML a moment ago
	}
	return "---\n" + string(text)
}

// deployed completes the record. A pod without one, whose record somebody
// removed, gets it again.
func (r *run) deployed(ctx context.Context, record *helm.Release) error {
	if record != nil && record.Info.Status == helm.StatusDeployed {
		return nil
	}
	write := r.records().Update
	if record == nil {
		record = release.NewRecord(r.id, r.namespace, r.rendered, r.Now())
		write = r.records().Create
	}
	release.Deployed(record, r.Now())
	return write(ctx, record)
}
