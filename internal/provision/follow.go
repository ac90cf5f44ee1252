package provision

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// open begins to watch the pod, its events and its claims. The pod's watch goes
// on from what the lookup saw.
func (r *run) open(ctx context.Context) error {
	if r.found.Workload != nil {
		var err error
		r.follower, err = r.found.Workload.Follow(ctx, r.claims()...)
		return err
	}
	core, ns := r.Client.CoreV1(), r.namespace
	pods := follow.PodSource(follow.Client(core.Pods(ns)), ns, r.id)
	pods.Version = r.found.Version
	if r.found.Pod != nil {
		pods.Listed = []runtime.Object{r.found.Pod}
	}
	sources := []follow.Source{pods, follow.EventSource(follow.Client(core.Events(ns)), ns, "Pod", r.id)}
	if claims := r.claims(); len(claims) > 0 {
		sources = append(sources,
			follow.ClaimSource(follow.Client(core.PersistentVolumeClaims(ns)), ns, claims...),
			follow.EventSource(follow.Client(core.Events(ns)), ns, "PersistentVolumeClaim", claims...))
	}
	var err error
	r.follower, err = follow.Open(ctx, watch.Subject{Namespace: ns, Name: r.id}, sources...)
	return err
}

// claims are those that the pod mounts, whoever they belong to.
func (r *run) claims() (names []string) {
	for _, object := range r.ownObjects() {
		switch object.GetKind() {
		case "Pod":
			names = append(names, mountedClaims(object)...)
		case "PersistentVolumeClaim":
			if !slices.Contains(names, object.GetName()) {
				names = append(names, object.GetName())
			}
		}
	}
	return names
}

func mountedClaims(pod *unstructured.Unstructured) (names []string) {
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	for _, volume := range volumes {
		v, _ := volume.(map[string]any)
		if name, found, _ := unstructured.NestedString(v, "persistentVolumeClaim", "claimName"); found && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// ownObjects are the objects that the run makes beside a pod or a workload.
func (r *run) ownObjects() []*unstructured.Unstructured {
	if r.parts != nil {
		return r.parts.Objects
	}
	return r.rendered.Objects
}

// follow tells of the pod until it runs or it is certain that it will not.
func (r *run) follow(ctx context.Context) error {
	err := r.follower.Run(ctx, r.Policy, r.Now, func(c follow.Change) (done bool) {
		r.tell(c)
		return c.Snapshot.Verdict() != v1.VerdictWaiting
	})
	if err != nil {
		return err
	}
	if r.latest.Verdict() == v1.VerdictRunning {
		return nil
	}
	return r.failure(r.latest)
}

// tell passes on what is new.
func (r *run) tell(c follow.Change) {
	for _, object := range c.Objects {
		r.steps.Object(object)
	}
	for _, warning := range c.Warnings {
		r.steps.Warning(warning)
	}
	for _, notice := range c.Notices {
		r.steps.Progress(notice)
	}
	if c.Changed {
		r.latest = r.explained(c.Snapshot)
		r.steps.reached(r.latest)
	}
}

// explained is the reading with what to do about its cause.
func (r *run) explained(s v1.Snapshot) v1.Snapshot {
	if s.Cause != nil {
		cause := *s.Cause // the reading is the follower's
		cause.Hint = r.hint(s)
		s.Cause = &cause
	}
	return s
}
