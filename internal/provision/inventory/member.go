package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// member is one pod of a workspace, as a workspace of its own. One that stands
// alone has one; one that is injected has as many as its workload has replicas.
type member struct {
	v1.Workspace
	pod      string
	injected bool
	// leaving is true for a pod that is going or has failed as a whole: where
	// there are others, its workload has replaced it.
	leaving bool
}

// key is what makes pods members of the same workspace.
type key struct{ namespace, id string }

func keyOf(pod *corev1.Pod) key { return key{pod.Namespace, idOf(&pod.ObjectMeta)} }

func memberOf(pod *corev1.Pod, reading v1.Snapshot) member {
	return member{
		Workspace: Describe(&pod.ObjectMeta, reading),
		pod:       pod.Name,
		injected:  pod.Labels[kube.LabelInjected] == "true",
		leaving:   pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed,
	}
}

// gather makes workspaces of their members, in no order.
func gather(members []member) []v1.Workspace {
	workspaces := make([]v1.Workspace, 0, len(members))
	several := map[key][]member{}
	for _, m := range members {
		if m.injected {
			of := key{m.Namespace, m.ID}
			several[of] = append(several[of], m)
			continue
		}
		workspaces = append(workspaces, m.Workspace)
	}
	for _, replicas := range several {
		workspaces = append(workspaces, combine(replicas))
	}
	return workspaces
}

// combine makes one workspace of its members: it is as far as the one that is
// the least far. Those that are leaving count if there are no others.
func combine(members []member) v1.Workspace {
	staying := slices.DeleteFunc(slices.Clone(members), func(m member) bool { return m.leaving })
	if len(staying) > 0 {
		members = staying
	}
	least := slices.MinFunc(members, func(a, b member) int {
		return cmp.Or(advance(a.Stage)-advance(b.Stage), strings.Compare(a.pod, b.pod))
	})
	w, ready := least.Workspace, 0
	if !least.injected && len(members) == 1 {
		return w
	}
	for _, m := range members {
		if m.Stage == v1.StageRunning {
			ready++
		}
		if m.CreatedAt.Before(w.CreatedAt) {
			w.CreatedAt = m.CreatedAt
		}
		w.Replicas = append(w.Replicas, v1.Replica{Name: m.pod, Stage: m.Stage, Message: m.Message, Node: m.Node})
	}
	slices.SortFunc(w.Replicas, func(a, b v1.Replica) int { return strings.Compare(a.Name, b.Name) })
	if len(members) > 1 {
		w.Message = strings.TrimSuffix(fmt.Sprintf("%d of %d ready; %s", ready, len(members), w.Message), "; ")
	}
	return w
}

// advance orders stages by how far they are. A failure comes first: it decides
// how the whole stands.
func advance(stage v1.Stage) int {
	return slices.Index([]v1.Stage{
		v1.StageFailed, v1.StageUnknown, v1.StageScheduling, v1.StagePulling, v1.StageInitializing,
		v1.StageStarting, v1.StageRunning, v1.StageStopped, v1.StageTerminating,
	}, stage)
}
