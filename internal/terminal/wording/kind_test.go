package wording_test

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/wording"
)

func TestMessageKind(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"0/3 nodes: 2 Insufficient cpu", "0/4 nodes: 3 Insufficient cpu", true},
		{"0/3 nodes: 2 Insufficient cpu", "0/3 nodes: 2 Insufficient memory", false},
		{"back-off 10s restarting", "back-off 2m40s restarting", true},
		{"crash loop: 3 restarts", "crash loop: 4 restarts", true},
		{"1 of 3 ready; web is not ready", "2 of 3 ready; web is not ready", false},
		{`configmap "team-1" not found`, `configmap "team-2" not found`, false},
		{"step-1", "step-2", false},
		{"app: pulling tool:1.4", "app: pulling tool:1.5", false},
		{"main ended with exit code 1", "main ended with exit code 137", false},
		{"(x3 over 5m)", "(x12 over 25m)", true},
		{"ready in 2.5s, 3 restarts", "ready in 12.1s, 4 restarts", true},
		{"container app1 is not ready", "container app2 is not ready", false},
	} {
		if same := wording.MessageKind(test.a) == wording.MessageKind(test.b); same != test.same {
			t.Errorf("%q and %q: same %v, want %v", test.a, test.b, same, test.same)
		}
	}
}

// A code that is Kubernetes' word, too, is said once.
func TestCauseInShort(t *testing.T) {
	for want, c := range map[string]v1.Cause{
		"DeadlineExceeded: Pod was active": {Code: "DeadlineExceeded", Message: "DeadlineExceeded: Pod was active"},
		"Evicted: the node is full (main)": {Code: "Evicted", Message: "Evicted: the node is full", Container: "main"},
		"CrashLoop: 3 restarts (main)": {
			Code: "CrashLoop", Message: "container main: 3 restarts",
			Container: "main",
		},
		"ran": {Message: "ran"},
	} {
		if got := wording.CauseInShort(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
