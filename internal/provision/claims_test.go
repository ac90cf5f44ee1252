package provision

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// One claim that cannot be changed as the blueprint asks is the error message; several are listed as its
// problems.
func TestUnchangeable(t *testing.T) {
	home, data := "storage home cannot be changed: it shrinks", "storage data cannot be changed: it shrinks"
	if err := unchangeable(nil); err != nil {
		t.Errorf("without any: %v", err)
	}
	for message, problems := range map[string][]string{
		home:                           {home},
		"2 storages cannot be changed": {home, data},
	} {
		err := fault.From(unchangeable(problems))
		if len(problems) == 1 {
			problems = nil
		}
		if err.Message != message || !slices.Equal(err.Problems, problems) || err.Hint == "" {
			t.Errorf("%q, %q; want %q", err.Message, err.Problems, message)
		}
	}
}

// Claims are found where the workspace's own container mounts them, whatever other containers mount. Other
// volumes do not count.
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
				Name: kube.MainContainer(pod.Labels),
				VolumeMounts: []corev1.VolumeMount{
					{Name: "home", MountPath: "/home/alice"},
					{Name: "tmp", MountPath: "/tmp"},
				},
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
			volume := corev1.Volume{
				Name:         "v",
				VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
			}
			if c.claim {
				volume.VolumeSource = corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "home"},
				}
			}
			main := corev1.Container{
				Name:         "k8shell-main",
				VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: c.mount}},
			}
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

// A pod without claims keeps no files. A workspace without a pod of its own may keep files in the claims of
// its workload.
func TestKeepsFiles(t *testing.T) {
	if KeepsFiles(&inventory.Target{Found: inventory.Found{Pod: &corev1.Pod{}}}) {
		t.Error("a pod without a storage keeps files")
	}
	if !KeepsFiles(&inventory.Target{}) {
		t.Error("one without a pod of its own keeps nothing")
	}
}
