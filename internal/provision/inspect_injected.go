package provision

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// inspectInjected is the document of a workspace in a workload: how the newest
// revision stands, and whose the workspace is from a pod that has it.
func (p *Provisioner) inspectInjected(ctx context.Context, t *Target) (*v1.Workspace, error) {
	workload, reading := t.found.workload, t.found.reading
	w := v1.Workspace{TypeMeta: v1.Kind(v1.KindWorkspace), ID: t.ID, Namespace: t.Namespace}
	pods, err := p.podsInjected(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if len(pods) > 0 {
		w = describe(pods[0], reading)
	}
	if !workload.injected() {
		reading = v1.Snapshot{
			Stage: v1.StageUnknown, Status: v1.StatusUnknown,
			Message: "not in " + workload.ref.String() + " any more; delete it, or provision it again",
		}
	}
	w.Snapshot, w.Workload = reading, workload.ref.String()
	return &w, nil
}

// together puts the pods of one injected workspace together, the newest first:
// those of the newest job, unless there are only others.
func together(all []corev1.Pod) (groups [][]*corev1.Pod) {
	at := map[string]int{}
	for i := range all {
		pod := &all[i]
		key := pod.Namespace + "/" + pod.Labels[kube.LabelCanonicalID]
		injected := pod.Labels[kube.LabelInjected] == "true"
		if n, ok := at[key]; ok && injected {
			groups[n] = append(groups[n], pod)
			continue
		}
		if injected {
			at[key] = len(groups)
		}
		groups = append(groups, []*corev1.Pod{pod})
	}
	for i, pods := range groups {
		if len(pods) > 1 {
			groups[i] = newestJob(pods)
		}
	}
	return groups
}

// newestJob leaves the pods of the job that made the newest one. Those that are
// going count only if there are no others.
func newestJob(pods []*corev1.Pod) []*corev1.Pod {
	staying := slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	if len(staying) > 0 {
		pods = staying
	}
	newest := slices.MaxFunc(pods, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	job := newest.Labels[kube.LabelJobID]
	return slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.Labels[kube.LabelJobID] != job })
}

// describeAll is the document of the pods of one workspace: as the one that is
// the least far.
func describeAll(pods []*corev1.Pod, readings []v1.Snapshot) v1.Workspace {
	least, ready := 0, 0
	var replicas []v1.Replica
	for i, r := range readings {
		if watch.Progress(r.Stage) < watch.Progress(readings[least].Stage) {
			least = i
		}
		if r.Stage == v1.StageRunning {
			ready++
		}
		replicas = append(replicas, v1.Replica{Name: pods[i].Name, Stage: r.Stage, Message: r.Message, Node: r.Node})
	}
	w := describe(pods[least], readings[least])
	if w.Workload == "" {
		return w
	}
	slices.SortFunc(replicas, func(a, b v1.Replica) int { return strings.Compare(a.Name, b.Name) })
	w.Replicas = replicas
	if len(pods) > 1 && w.Cause == nil {
		w.Message = fmt.Sprintf("%d of %d ready", ready, len(pods))
	}
	return w
}
