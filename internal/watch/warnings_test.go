package watch

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
)

// The severity table of the provisioning flow, and how the kubelet writes it.
func TestIsWarning(t *testing.T) {
	for _, test := range []struct {
		kind, reason, message string
		facts                 circumstances
		want                  bool
	}{
		{reason: "ImagePullBackOff"},
		{reason: "ErrImagePull"},
		{reason: "InvalidImageName"},
		{reason: "OOMKilled"},
		{
			reason: "BackOff", message: "Back-off restarting failed container app in pod x",
			facts: circumstances{restarts: 3},
		},
		{
			reason: "BackOff", message: "Back-off restarting failed container app in pod x",
			facts: circumstances{restarts: 2},
			want:  true,
		},
		{kind: "PersistentVolumeClaim", reason: "FailedBinding"},
		{kind: "PersistentVolumeClaim", reason: "FailedBinding", facts: circumstances{bound: true}},
		{kind: "PersistentVolumeClaim", reason: "ProvisioningFailed", want: true},
		{kind: "PersistentVolumeClaim", reason: "WaitForFirstConsumer"},
		{kind: "PersistentVolumeClaim", reason: "ExternalProvisioning"},
		{reason: "FailedScheduling", want: true},
		{reason: "Unhealthy", want: true},
		{reason: "NotTriggerScaleUp", want: true},
		{reason: "Scheduled"},
		{reason: "Pulled"},
		{reason: "Created"},
		// What the kubelet writes for the table's names.
		{reason: "Failed", message: `Failed to pull image "x:1": not found`},
		{reason: "Failed", message: "Error: ErrImagePull"},
		{reason: "Failed", message: "Error: ImagePullBackOff"},
		{reason: "BackOff", message: `Back-off pulling image "x:1"`},
		{reason: "InspectFailed", message: `Failed to apply default image tag "X:1": couldn't parse image name`},
		{reason: "InspectFailed", message: `Failed to inspect image "x:1": rpc error`, want: true},
		{reason: "ErrImageNeverPull"},
		{reason: "Failed", message: `(combined from similar events): Failed to pull image "x:1": not found`},
		{reason: "BackOff", message: `(combined from similar events): Back-off pulling image "x:1"`},
		{
			reason: "Failed", message: `Failed to pull image "x:1": not found`, facts: circumstances{tolerated: true},
			want: true,
		},
		{kind: "PersistentVolumeClaim", reason: "FailedBinding", facts: circumstances{tolerated: true}, want: true},
		// What it does not name, by its type.
		{reason: "Failed", message: `Error: configmap "x" not found`, want: true},
		{reason: "FailedMount", want: true},
		{reason: "FailedCreatePodSandBox", want: true},
		{reason: "Killing"},
	} {
		kind := test.kind
		if kind == "" {
			kind = KindPod
		}
		e := &corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: kind},
			Type:           typeOf(test.reason), Reason: test.reason, Message: test.message,
		}
		if got := isWarning(e, test.facts, cause.DefaultPolicy()); got != test.want {
			t.Errorf("%s %q with %+v: %t, want %t", test.reason, test.message, test.facts, got, test.want)
		}
	}
}

// typeOf is the type that Kubernetes gives to events of a reason.
func typeOf(reason string) string {
	switch reason {
	case "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "OOMKilled", "BackOff",
		"FailedBinding",
		"Failed", "FailedMount", "FailedCreatePodSandBox", "InspectFailed", "Unhealthy", "FailedScheduling",
		"ProvisioningFailed":
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}

func TestIsWarningIgnores(t *testing.T) {
	e := &corev1.Event{Reason: "Failed", Message: "Error: ErrImagePull", Type: corev1.EventTypeWarning}
	p := cause.DefaultPolicy()
	p.IgnoreReasons = []string{"ErrImagePull"}
	if !isWarning(e, circumstances{}, p) {
		t.Error("what is ignored is a warning")
	}
}
