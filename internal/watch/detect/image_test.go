package detect

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func pullError(said string) string {
	return fmt.Sprintf("Failed to pull image %q: rpc error: code = Unknown desc = %s", "x/app:1", said)
}

// What the kubelet only repeats is explained by the newest event that has the registry's words.
func TestPullIsExplained(t *testing.T) {
	const backingOff = "Back-off pulling image \"x/app:1\""
	event := func(reason, message string) *corev1.Event {
		return watchtest.Event("web", "1", "app", reason, message).Warn().Event
	}
	said, echo := event("Failed", pullError("denied")), event("Failed", "Error: ImagePullBackOff")
	for name, test := range map[string]struct {
		message string
		events  []*corev1.Event
		want    string
	}{
		"the attempt before": {
			backingOff,
			[]*corev1.Event{said, echo, event("BackOff", backingOff)},
			pullError("denied"),
		},
		"another kind of event": {
			backingOff,
			[]*corev1.Event{said, event("Pulling", "Pulling image")},
			pullError("denied"),
		},
		"only echoes":            {backingOff, []*corev1.Event{echo}, backingOff},
		"nothing to be heard of": {backingOff, nil, backingOff},
		"it says why itself":     {backingOff + `": denied`, []*corev1.Event{said}, backingOff + `": denied`},
	} {
		if got := explained(evidence.Container{Events: test.events}, test.message); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// The name of an image says nothing of what is wrong with it.
func TestNameOfAnImage(t *testing.T) {
	for image, text := range map[string]string{
		"r.example.com/sec/vulnerability-scanner:1": "reading manifest 1 in r.example.com/sec/vulnerability-scanner: " +
			"denied: no access",
		"r.example.com/sec/quarantine@sha256:1f": "r.example.com/sec/quarantine@sha256:1f: denied",
		"r.example.com/sec/vulnerability-scanner:2": "unexpected status from HEAD request to " +
			"https://r.example.com/v2/sec/vulnerability-scanner/manifests/2: 403 Forbidden",
		"r.example.com/sec/vulnerability-scanner:3": "failed to fetch https://r.example.com/token" +
			"?scope=repository%3Asec%2Fvulnerability-scanner%3Apull: 403 Forbidden",
		"denied:1": "docker.io/library/x: denied",
	} {
		if got, _ := pullCode(withoutName(text, image)); got != cause.ImagePullDenied {
			t.Errorf("%s: %s", image, got)
		}
	}
}
