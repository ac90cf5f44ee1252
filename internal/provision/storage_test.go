package provision

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/kube"
)

// A claim is where the workspace's own container has it: others may have it elsewhere, and
// what is no claim is not counted.
func TestMountsOf(t *testing.T) {
	for name, injected := range map[string]bool{"of its own": false, "injected": true} {
		pod := workspacePod()
		if injected {
			pod.Labels[kube.LabelInjected] = "true"
		}
		claim := func(volume, claim string) corev1.Volume {
			source := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
			return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: source}}
		}
		pod.Spec.Volumes = []corev1.Volume{claim("home", "alice-home"), {Name: "tmp"}, claim("data", "alice-data")}
		pod.Spec.Containers = []corev1.Container{
			{
				Name:         kube.MainContainer(pod.Labels),
				VolumeMounts: []corev1.VolumeMount{{Name: "home", MountPath: "/home/alice"}, {Name: "tmp", MountPath: "/tmp"}},
			},
			{Name: "other", VolumeMounts: []corev1.VolumeMount{
				{Name: "home", MountPath: "/backup"},
				{Name: "data", MountPath: "/data"},
			}},
		}
		if got, want := mountsOf(pod), map[string]string{"alice-home": "/home/alice"}; !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
