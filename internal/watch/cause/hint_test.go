package cause

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// What brings a workspace back whose pod is over comes first in a hint, with its storage; nobody
// who has a workspace is sent to the specification of a pod, whose blueprint may not be known.
func TestHintsOfPodsThatAreOver(t *testing.T) {
	workspace := About{UserString: "alice~dev", Blueprint: "dev", Namespace: "team"}
	unnamed := About{UserString: "alice~dev", Namespace: "team"}
	const back = "Bring it back, any storage it has is kept: `berth start alice~dev --namespace team`."
	for _, code := range []string{
		Evicted, Preempted, NodeOutOfResources, NodeAffinity, DeadlineExceeded, PodFailed,
		PodDeleted,
	} {
		for name, about := range map[string]About{"of a blueprint": workspace, "of no known blueprint": unnamed} {
			if got := Hint(&v1.Cause{Code: code}, about); !strings.HasPrefix(got, back) || strings.Count(got, back) != 1 {
				t.Errorf("%s, %s: %s", code, name, got)
			}
		}
		if got := Hint(&v1.Cause{Code: code}, About{Blueprint: "dev"}); !strings.HasPrefix(got,
			"Start it again: any storage it has is kept.") {
			t.Errorf("%s, of an unknown user: %s", code, got)
		}
		if got := Hint(&v1.Cause{Code: code}, About{}); strings.Contains(got, "berth") {
			t.Errorf("%s, of no workspace: %s", code, got)
		}
	}
}

// No hint about a workspace speaks of the specification of its pod, or of fields that no
// blueprint has.
func TestHintsOfWorkspaces(t *testing.T) {
	for _, code := range codes() {
		for name, about := range map[string]About{
			"of a blueprint":        {UserString: "alice~dev", Blueprint: "dev"},
			"of no known blueprint": {UserString: "alice~dev"},
		} {
			got := Hint(&v1.Cause{Code: code, Object: "pod/alice-1"}, about)
			for _, foreign := range []string{"the pod's spec", "priorityClassName"} {
				if strings.Contains(got, foreign) {
					t.Errorf("%s, %s, speaks of %s: %s", code, name, foreign, got)
				}
			}
		}
	}
}
