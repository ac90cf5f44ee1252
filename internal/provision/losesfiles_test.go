package provision

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/provision/inventory"
)

func TestLosesFiles(t *testing.T) {
	for name, c := range map[string]struct {
		home, mount string
		claim       bool
		want        bool
	}{
		"its home is a storage":                 {"/home/dev", "/home/dev", true, false},
		"its home is in a storage":              {"/home/dev", "/home/", true, false},
		"a storage in its home":                 {"/home/dev", "/home/dev/work", true, true},
		"a storage beside its home":             {"/home/dev", "/home/de", true, true},
		"its home is a directory of the pod":    {"/home/dev", "/home/dev", false, true},
		"the image says where its home is":      {"", "/home/dev", true, true},
		"everything is in a storage, in theory": {"/home/dev", "/", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			volume := corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
			if c.claim {
				volume.VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "home"}}
			}
			main := corev1.Container{Name: "k8shell-main", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: c.mount}}}
			if c.home != "" {
				main.Env = []corev1.EnvVar{{Name: "HOME", Value: c.home}}
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "alice-2bd806c"}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{main}, Volumes: []corev1.Volume{volume},
			}}
			if got := LosesFiles(&inventory.Target{Found: inventory.Found{Pod: pod}}); got != c.want {
				t.Errorf("loses files: %t", got)
			}
		})
	}
	if LosesFiles(&inventory.Target{}) {
		t.Error("a workspace without a pod has nothing to lose")
	}
}

// A pod without any claim keeps nothing; what an injected workspace has in its claims is not denied.
func TestKeepsFiles(t *testing.T) {
	if KeepsFiles(&inventory.Target{Found: inventory.Found{Pod: &corev1.Pod{}}}) {
		t.Error("a pod without a storage keeps files")
	}
	if !KeepsFiles(&inventory.Target{}) {
		t.Error("one without a pod of its own keeps nothing")
	}
}
