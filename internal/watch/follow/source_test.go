package follow

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A ClaimSource covers the claims with its names, and nothing else that has such a name.
func TestClaimSourceCovers(t *testing.T) {
	s := ClaimSource(nil, "dev", "home", "data")
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "dev", Name: name} }
	for name, c := range map[string]struct {
		object metav1.Object
		want   bool
	}{
		"one of them":   {&corev1.PersistentVolumeClaim{ObjectMeta: named("data")}, true},
		"another claim": {&corev1.PersistentVolumeClaim{ObjectMeta: named("other")}, false},
		"a pod":         {&corev1.Pod{ObjectMeta: named("data")}, false},
	} {
		if got := s.Covers(c.object); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
