package watch

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
)

// The severity table of the provisioning flow, and how the kubelet writes it.
func TestClassify(t *testing.T) {
	for _, test := range []struct {
		kind, reason, message string
		facts                 Circumstances
		want                  Severity
	}{
		{reason: "ImagePullBackOff", want: Critical},
		{reason: "ErrImagePull", want: Critical},
		{reason: "InvalidImageName", want: Critical},
		{reason: "OOMKilled", want: Critical},
		{reason: "BackOff", message: "Back-off restarting failed container app in pod x", facts: Circumstances{Restarts: 3}, want: Critical},
		{reason: "BackOff", message: "Back-off restarting failed container app in pod x", facts: Circumstances{Restarts: 2}, want: Warning},
		{kind: "PersistentVolumeClaim", reason: "FailedBinding", want: Critical},
		{kind: "PersistentVolumeClaim", reason: "FailedBinding", facts: Circumstances{Bound: true}, want: Info},
		{kind: "PersistentVolumeClaim", reason: "ProvisioningFailed", want: Warning},
		{kind: "PersistentVolumeClaim", reason: "WaitForFirstConsumer", want: Info},
		{kind: "PersistentVolumeClaim", reason: "ExternalProvisioning", want: Info},
		{reason: "FailedScheduling", want: Warning},
		{reason: "Unhealthy", want: Warning},
		{reason: "NotTriggerScaleUp", want: Warning},
		{reason: "Scheduled", want: Info},
		{reason: "Pulled", want: Info},
		{reason: "Created", want: Info},
		// What the kubelet writes for the table's names.
		{reason: "Failed", message: `Failed to pull image "x:1": not found`, want: Critical},
		{reason: "Failed", message: "Error: ErrImagePull", want: Critical},
		{reason: "Failed", message: "Error: ImagePullBackOff", want: Critical},
		{reason: "BackOff", message: `Back-off pulling image "x:1"`, want: Critical},
		{reason: "InspectFailed", message: `Failed to apply default image tag "X:1": couldn't parse image name`, want: Critical},
		{reason: "InspectFailed", message: `Failed to inspect image "x:1": rpc error`, want: Warning},
		{reason: "ErrImageNeverPull", want: Critical},
		{reason: "Failed", message: `(combined from similar events): Failed to pull image "x:1": not found`, want: Critical},
		{reason: "BackOff", message: `(combined from similar events): Back-off pulling image "x:1"`, want: Critical},
		{reason: "Failed", message: `Failed to pull image "x:1": not found`, facts: Circumstances{Excused: true}, want: Warning},
		{kind: "PersistentVolumeClaim", reason: "FailedBinding", facts: Circumstances{Excused: true}, want: Warning},
		// What it does not name, by its type.
		{reason: "Failed", message: `Error: configmap "x" not found`, want: Warning},
		{reason: "FailedMount", want: Warning},
		{reason: "FailedCreatePodSandBox", want: Warning},
		{reason: "Killing", want: Info},
	} {
		kind := test.kind
		if kind == "" {
			kind = KindPod
		}
		e := &corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: kind},
			Type:           typeOf(test.reason), Reason: test.reason, Message: test.message,
		}
		if got := Classify(e, test.facts, cause.DefaultPolicy()); got != test.want {
			t.Errorf("%s %q with %+v: %s, want %s", test.reason, test.message, test.facts, got, test.want)
		}
	}
}

// typeOf is the type that Kubernetes gives to events of a reason.
func typeOf(reason string) string {
	switch reason {
	case "Failed", "FailedMount", "FailedCreatePodSandBox", "InspectFailed", "Unhealthy", "FailedScheduling", "ProvisioningFailed":
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}

func TestClassifyIgnores(t *testing.T) {
	e := &corev1.Event{Reason: "Failed", Message: "Error: ErrImagePull", Type: corev1.EventTypeWarning}
	p := cause.DefaultPolicy()
	p.IgnoreReasons = []string{"ErrImagePull"}
	if got := Classify(e, Circumstances{}, p); got != Warning {
		t.Errorf("%s, want a warning", got)
	}
}
