package related

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
)

// pod is ws in namespace dev, changed.
func pod(change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "ws", UID: "ws-1"}}
	change(p)
	return p
}

func TestWanted(t *testing.T) {
	gate := func(name string) *corev1.Pod {
		return pod(func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "train", UID: "train-1"}}
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: name}}
		})
	}
	devices := pod(func(p *corev1.Pod) {
		shared, made := "shared-gpu", "ws-gpu-x7k2p"
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{
			{Name: "a", ResourceClaimName: &shared}, {Name: "b", ResourceClaimTemplateName: new("gpu")},
		}
		p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "b", ResourceClaimName: &made}}
	})
	secrets := pod(func(p *corev1.Pod) {
		for driver, class := range map[string]string{"secrets-store.csi.k8s.io": "vault", "csi.example.com": "other"} {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{
				CSI: &corev1.CSIVolumeSource{
					Driver: driver, VolumeAttributes: map[string]string{"secretProviderClass": class},
				},
			}})
		}
	})
	for name, c := range map[string]struct {
		pod    *corev1.Pod
		cause  string
		events []string
		want   []string
	}{
		"gated by Kueue": {
			gate("kueue.x-k8s.io/admission"), cause.SchedulingGated, nil,
			[]string{"list workloads.kueue.x-k8s.io in namespace dev"},
		},
		"gated by something else": {gate("example.com/quota"), cause.SchedulingGated, nil, nil},
		"of a group of Volcano": {
			pod(func(p *corev1.Pod) { p.Annotations = map[string]string{"scheduling.k8s.io/group-name": "pg"} }),
			cause.Unschedulable, nil,
			[]string{"get podgroups.scheduling.volcano.sh in namespace dev"},
		},
		"of a group of the scheduler plugins": {
			pod(func(p *corev1.Pod) { p.Labels = map[string]string{"scheduling.x-k8s.io/pod-group": "pg"} }),
			cause.SchedulerSilent, nil,
			[]string{"get podgroups.scheduling.x-k8s.io in namespace dev"},
		},
		"nominated by Karpenter twice: the last one": {
			pod(func(*corev1.Pod) {}), cause.Unschedulable, []string{
				"Pod should schedule on: nodeclaim/default-4xk2d", "Pod should schedule on: nodeclaim/default-zq9fl",
			}, []string{"get nodeclaims.karpenter.sh"},
		},
		"devices, claimed by name and from a template": {devices, cause.Unschedulable, nil, []string{
			"get resourceclaims.resource.k8s.io in namespace dev",
			"get resourceclaims.resource.k8s.io in namespace dev",
		}},
		"devices that the driver does not prepare": {devices, cause.ResourceNotReady, nil, []string{
			"get resourceclaims.resource.k8s.io in namespace dev",
			"get resourceclaims.resource.k8s.io in namespace dev",
		}},
		"a class of secrets": {
			secrets, cause.VolumeNotMounted, nil,
			[]string{"get secretproviderclasses.secrets-store.csi.x-k8s.io in namespace dev"},
		},
		"a cause that they say nothing about": {devices, cause.ImageNotFound, nil, nil},
		"no pod":                              {nil, cause.Unschedulable, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var events []*corev1.Event
			for _, message := range c.events {
				events = append(events, &corev1.Event{Message: message})
			}
			var got []string
			for _, r := range Wanted(c.pod, events, &v1.Cause{Code: c.cause}) {
				got = append(got, r.call().String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
	if Wanted(devices, nil, nil) != nil {
		t.Error("something is read without a cause")
	}
}

func TestWorkloadOfTheOwner(t *testing.T) {
	p := pod(func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "train", UID: "train-1"}}
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
	})
	refs := Wanted(p, nil, &v1.Cause{Code: cause.SchedulingGated})
	if len(refs) != 1 || !slices.Equal(refs[0].owners, []types.UID{"ws-1", "train-1"}) {
		t.Errorf("%+v", refs)
	}
	if kube.Object(refs[0].kind.name, "x") != "workload/x" {
		t.Errorf("%+v", refs[0].kind)
	}
}
