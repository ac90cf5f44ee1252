package inventory

import (
	"cmp"
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/nodes"
)

// Inspect reads one workspace in full: its pod, or the workload that it is injected
// into, what explains them, and what has become of its init scripts. A release whose pod is gone is a
// workspace in stage Unknown.
func (r Reader) Inspect(ctx context.Context, arg Argument) (*v1.Workspace, error) {
	w, objects, err := r.inspect(ctx, arg)
	if err == nil {
		r.In(w.Namespace).readScripts(ctx, w, objects)
	}
	return w, err
}

// InspectWithEvents is Inspect with the events that Kubernetes recorded.
func (r Reader) InspectWithEvents(ctx context.Context, arg Argument) (*v1.Workspace, error) {
	w, objects, err := r.inspect(ctx, arg)
	if err == nil {
		r.In(w.Namespace).readScripts(ctx, w, objects)
		w.Events = objects.Events()
	}
	return w, err
}

func (r Reader) inspect(ctx context.Context, arg Argument) (*v1.Workspace, Objects, error) {
	target, err := r.Find(ctx, arg)
	r = r.In(arg.Namespace)
	if fault.CodeOf(err) == fault.NotFound {
		// A workload that is gone may have left pods.
		ids := arg.IDs()
		objects, podsErr := r.podsOf(ctx, ids[len(ids)-1])
		if podsErr != nil || len(objects.Pods) == 0 {
			return nil, objects, cmp.Or(podsErr, err)
		}
		if err := checkPods(arg.asked(), objects.Pods); err != nil {
			return nil, objects, err
		}
		return r.describe(ctx, objects)
	}
	if err != nil {
		return nil, Objects{}, err
	}
	f := target.Found
	switch {
	case f.Pod != nil && len(f.objects.Around) == 0:
		f, err = r.explain(ctx, f)
	case f.Pod == nil && f.Workload == nil:
		w, _ := target.Installed()
		return &w, f.objects, nil
	case f.Pod == nil && !f.Workload.Injected():
		if f.objects, err = r.podsOf(ctx, target.ID); err == nil && len(f.objects.Pods) == 0 {
			return target.remains(), f.objects, nil
		}
		f.objects.Workload, _ = f.Workload.Typed()
	}
	if err != nil {
		return nil, Objects{}, err
	}
	return r.describe(ctx, f.objects)
}

// describe reads the nodes that its pods wait on, too.
func (r Reader) describe(ctx context.Context, objects Objects) (*v1.Workspace, Objects, error) {
	found, unread, err := nodes.Read(ctx, r.Client.CoreV1().Nodes(), objects.state(watch.Subject{}), r.Now())
	if err != nil {
		return nil, objects, err
	}
	for _, node := range found {
		objects.Around = append(objects.Around, node)
	}
	w, _ := objects.Workspace(r.Policy, r.Now())
	w.Unread = unread
	return &w, objects, nil
}

// podsOf finds the pods of a workload, whose names are not the workspace's, by
// their label, and what explains them.
func (r Reader) podsOf(ctx context.Context, id string) (Objects, error) {
	var o Objects
	list, err := r.Client.CoreV1().Pods(r.Client.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: kube.LabelCanonicalID + "=" + kube.LabelValue(id),
	})
	if err != nil {
		return o, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: r.Client.Namespace})
	}
	for i := range list.Items {
		pod := &list.Items[i]
		if !kube.IsOfWorkspace(&pod.ObjectMeta) {
			continue
		}
		around, err := r.around(ctx, pod)
		if err != nil {
			return o, err
		}
		o.Pods, o.Around = append(o.Pods, pod), append(o.Around, around...)
	}
	return o, nil
}

// remains is the document of a workspace that is not in its workload, and of which
// something is left.
func (t *Target) remains() *v1.Workspace {
	ref := t.Found.Workload.Ref
	return &v1.Workspace{
		ID: t.ID, Namespace: t.Namespace, Workload: ref.String(),
		Snapshot: v1.Snapshot{
			Stage: v1.StageUnknown, Status: v1.StatusUnknown,
			Message: notIn(ref) + "; delete it, or provision it again",
		},
	}
}
