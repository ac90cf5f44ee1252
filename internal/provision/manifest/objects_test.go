package manifest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/kube"
)

// What a workspace has beside its pod follows from the pod: a policy if it has a class, a
// certificate if it mounts the Secret of one.
func TestOfPod(t *testing.T) {
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "alice-1", Labels: map[string]string{}}}
		change(pod)
		return pod
	}
	mounts := func(secret string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{{
				VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}},
			}}
		}
	}
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		more []string
	}{
		"nothing more": {pod(func(*corev1.Pod) {}), nil},
		"a class": {
			pod(func(pod *corev1.Pod) { pod.Labels[kube.LabelNetworkPolicy] = "isolated" }),
			[]string{"NetworkPolicy"},
		},
		"a certificate": {
			pod(mounts(kube.CertificateSecret("alice-1"))),
			[]string{"Certificate", "Certificate"}, // as berth once named it, too
		},
		"the Secret of another": {pod(mounts("theirs")), nil},
	} {
		var more []string
		for _, object := range OfPod(test.pod) {
			if kind := object.GetKind(); kind == "NetworkPolicy" || kind == "Certificate" {
				if more = append(more, kind); kind == "Certificate" && object.GetAPIVersion() != CertManager {
					t.Errorf("%s: a certificate of %s", name, object.GetAPIVersion())
				}
			}
		}
		if !slices.Equal(more, test.more) {
			t.Errorf("%s: %q, want %q", name, more, test.more)
		}
	}
}

// The credentials of a repository are in a Secret of the workspace, as git takes them.
func TestPrivate(t *testing.T) {
	private := withRepository(t, blueprint.Blueprint{Name: "dev", Image: "x"}).Private()
	if len(private) != 1 {
		t.Fatalf("%v", private)
	}
	want := map[string]any{"username": "YWxpY2U=", "password": "aHVudGVyMg=="}
	if diff := cmp.Diff(want, private[0].Object["data"]); diff != "" ||
		private[0].Object["type"] != "kubernetes.io/basic-auth" || len(private[0].GetLabels()) == 0 {
		t.Errorf("%v: %s", private[0].Object, diff)
	}
}
