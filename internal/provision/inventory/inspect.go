package inventory

import (
	"cmp"
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/initscript"
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

// ReadScripts adds to the document of what was found what has become of its init scripts. Of
// more pods than are looked at, that is not known.
func (r Reader) ReadScripts(ctx context.Context, f Found, w *v1.Workspace) {
	r.readScripts(ctx, w, f.objects)
	if len(f.objects.Pods) > initscript.MostPods && w.ScriptsUnread == "" {
		w.ScriptsUnread = initscript.ErrTooManyPods.Error()
	}
}

// readScripts reads what has become of the init scripts, if there are any: a request for
// each pod, side by side.
func (r Reader) readScripts(ctx context.Context, w *v1.Workspace, objects Objects) {
	type answer struct {
		scripts []v1.Script
		unread  string
	}
	var answers [initscript.MostPods]answer
	var wg sync.WaitGroup
	n := 0
	for _, pod := range objects.Pods {
		instance, runs := initscript.Running(pod)
		if !runs || n == initscript.MostPods {
			continue
		}
		to := &answers[n]
		n++
		wg.Go(func() {
			scripts, ready, err := initscript.Read(ctx, r.Client, pod, instance.Container)
			to.scripts, to.unread = scripts, unread(pod, ready, err)
		})
	}
	wg.Wait()
	for _, a := range answers[:n] {
		w.Scripts = append(w.Scripts, a.scripts...)
		if w.ScriptsUnread == "" {
			w.ScriptsUnread = a.unread
		}
	}
}

// unread says why it is not known what has become of all scripts; empty if it is.
func unread(pod *corev1.Pod, ready bool, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case !ready && kube.IsReady(pod):
		return "the log of container " + kube.MainContainer(pod.Labels) + " is too long, or its beginning is gone"
	}
	return ""
}
