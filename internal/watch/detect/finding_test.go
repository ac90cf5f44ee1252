package detect

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// podOf is the pod web with the events about it.
func podOf(pod watchtest.MadePod, events ...*corev1.Event) evidence.Pod {
	return evidence.NewPod(pod.Pod, events, nil)
}

func warning(container, reason, message string) *corev1.Event {
	return watchtest.Event("web", "1", container, reason, message).Warn().Event
}

// compare checks a finding against "Code: words"; empty means no finding.
func compare(t *testing.T, got *cause.Finding, want string) {
	t.Helper()
	code, words, _ := strings.Cut(want, ": ")
	switch {
	case got == nil && want == "":
	case got == nil:
		t.Errorf("no cause, want %s", want)
	case got.Code != code || !strings.Contains(got.Message, words):
		t.Errorf("cause %s: %s, want %s", got.Code, got.Message, want)
	}
}
