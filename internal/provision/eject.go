package provision

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/watch"
)

// removeInjected takes the workspace out of its workload and waits until the
// last pod that has it is gone.
func (r *run) removeInjected(ctx context.Context, deletion *v1.Deletion, noWait bool) error {
	ref := r.found.workload.ref
	err := r.steps.do("eject", func() (string, error) {
		var err error
		deletion.Objects, err = r.eject(ctx, noWait)
		return fmt.Sprintf("%s, %d objects", ref, deletion.Objects), err
	})
	if err != nil || r.follower == nil {
		return err
	}
	if why := stays(r.found.workload.object); why != "" {
		r.steps.Warning(v1.Warning{Reason: "NotRolledOut", Message: why, Count: 1, Object: ref.String(), At: r.Now().UTC()})
		return nil
	}
	err = r.awaitClean(ctx)
	deletion.Gone = err == nil
	return err
}

// eject patches the workload and removes objects, under the lock. The patch goes
// first: no pod is to be made that waits for a ConfigMap that is gone. A pod that
// runs keeps what it has mounted.
func (r *run) eject(ctx context.Context, noWait bool) (int, error) {
	if err := r.mayEject(ctx); err != nil {
		return 0, err
	}
	held, err := r.lockForDelete(ctx)
	if err != nil {
		return 0, err
	}
	defer r.release(ctx, held)
	now, err := r.readWorkload(ctx, r.id, r.found.workload.ref)
	if err != nil {
		return 0, err
	}
	r.found.workload = now
	if !noWait {
		if err := r.open(ctx); err != nil {
			return 0, err
		}
	}
	if r.found.workload.object != nil {
		err := r.patch(ctx, r.found.workload, func(object map[string]any) (injection.Change, error) {
			return injection.Eject(object, r.id)
		})
		if err != nil {
			return 0, err
		}
		if err := r.unstick(ctx, ""); err != nil {
			return 0, err
		}
	}
	objects, err := r.objectsInjected(ctx, r.id)
	if err != nil {
		return 0, err
	}
	return r.applier(r.id).Remove(ctx, objects)
}

// objectsInjected are the ConfigMaps and claims of an injected workspace, found
// by their labels. What is shared carries no canonical ID.
func (p *Provisioner) objectsInjected(ctx context.Context, id string) (objects []*unstructured.Unstructured, err error) {
	core, ns, opts := p.Client.CoreV1(), p.Client.Namespace, metav1.ListOptions{LabelSelector: ours(id).String()}
	maps, err := core.ConfigMaps(ns).List(ctx, opts)
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "configmaps", Namespace: ns})
	}
	for i := range maps.Items {
		objects = append(objects, named("ConfigMap", maps.Items[i].Name))
	}
	claims, err := core.PersistentVolumeClaims(ns).List(ctx, opts)
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "persistentvolumeclaims", Namespace: ns})
	}
	for i := range claims.Items {
		objects = append(objects, named("PersistentVolumeClaim", claims.Items[i].Name))
	}
	return objects, nil
}

// awaitClean waits for the rollout of pods without the workspace. What goes
// wrong with those that are going concerns nobody; but one of a StatefulSet that
// its controller had made meanwhile, and that cannot become ready, would be
// waited for forever.
func (r *run) awaitClean(ctx context.Context) error {
	told, tries := -1, map[string]bool{}
	return r.follower.Until(ctx, func(s watch.State) bool {
		pods := s.Pods()
		for _, pod := range pods {
			if key := string(pod.UID); broken(pod) && !tries[key] {
				tries[key] = true
				_ = r.unstick(ctx, "") // it is a help, and the waiting goes on without it
			}
		}
		if len(pods) != told {
			told = len(pods)
			r.steps.reached(leaving(r.id, pods, r.Now().UTC()))
		}
		return len(pods) == 0
	})
}

// broken is true for a pod whose container waits for something, or that has
// been restarted: one that may never become ready.
func broken(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || isReady(pod) {
		return false
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Waiting != nil || c.RestartCount > 0 {
			return true
		}
	}
	return false
}
