package detect

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/evidence"
)

// waitedFor names volumes of claims first, and their claims with them.
func TestWaitedFor(t *testing.T) {
	claim := corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "home-of-alice"},
	}
	pod := evidence.Pod{Pod: &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
		{Name: "home", VolumeSource: claim},
	}}}}
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"none":                   {nil, ""},
		"a claim":                {[]string{"home"}, "volume home (claim home-of-alice)"},
		"no claim":               {[]string{"config"}, "volume config"},
		"one that the pod lacks": {[]string{"token"}, "volume token"},
		"both":                   {[]string{"config", "home"}, "volumes home (claim home-of-alice), config"},
		"more than a sentence names": {
			[]string{"a", "b", "c", "home"}, "4 volumes, among them home (claim home-of-alice), a, b",
		},
	} {
		if got := waitedFor(pod, c.names); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
