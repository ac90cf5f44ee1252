package deploy

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
)

// The hints about a workspace that is only followed know its blueprint and the limits of its
// pod, and in a workload which of the containers are the workspace's.
func TestAboutPods(t *testing.T) {
	const id = "alice-1"
	pod := func(controlled bool, container string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name:   "p",
			Labels: map[string]string{kube.LabelBlueprint: "dev"},
		}}
		if controlled {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Controller: new(true)}}
		}
		p.Spec.Containers = []corev1.Container{{Name: container, Image: "x", Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
		}}}
		return p
	}
	for name, c := range map[string]struct {
		pod       *corev1.Pod
		container string
		says      string
	}{
		"a pod of its own": {
			pod(false, v1.MainContainer), v1.MainContainer,
			`more memory than its limit of 512Mi, and the node killed it for that. Raise "resources.memory" in ` +
				`blueprint dev (or the flag that gave it). Then run ` +
				"`berth provision alice~dev --namespace team` again.",
		},
		"in a workload": {
			pod(true, id+"-k8shell-main"), id + "-k8shell-main",
			`"resources.memory" in blueprint dev`,
		},
		"the workload's own container": {
			pod(true, "web"), "web",
			`"resources.limits.memory" of container web in the pod's spec`,
		},
		"nothing is known": {nil, v1.MainContainer, "more memory than it could get"},
	} {
		var pods []*corev1.Pod
		if c.pod != nil {
			pods = append(pods, c.pod)
		}
		about := AboutPods(id, "team", "alice~dev", pods)
		reading := v1.Snapshot{Cause: &v1.Cause{Code: cause.OutOfMemory, Container: c.container}}
		if hint := about.Hint(reading); !strings.Contains(hint, c.says) {
			t.Errorf("%s: %q, want %q", name, hint, c.says)
		}
	}
}

// What a flag has set is not looked for in the blueprint.
func TestSetByFlags(t *testing.T) {
	origins := map[string]string{"image": "--image", "resources.memory": "--set", "resources.cpu": "team.yaml:3"}
	about := cause.About{Blueprint: "dev", UserString: "alice~dev", Set: SetByFlags(origins)}
	for code, says := range map[string]string{
		"ImageNotFound": `Check "image", which --image gave. Then`,
		"OOMKilled":     `Raise "resources.memory", which --set gave. Then`,
	} {
		if hint := cause.Hint(&v1.Cause{Code: code, Container: v1.MainContainer}, about); !strings.Contains(hint,
			says) {
			t.Errorf("%s: %q, want %q", code, hint, says)
		}
	}
}
