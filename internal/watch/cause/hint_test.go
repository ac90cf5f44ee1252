package cause

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// hintTest is what the hint for a cause says.
type hintTest struct {
	name  string
	cause v1.Cause
	about About
	says  []string
}

func checkHints(t *testing.T, tests []hintTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			hint := Hint(&test.cause, test.about)
			for _, words := range test.says {
				if !strings.Contains(hint, words) {
					t.Errorf("%q does not say %q", hint, words)
				}
			}
		})
	}
}

// A hint names the image, where it is known.
func TestHintNamesTheImage(t *testing.T) {
	missing := v1.Cause{Code: ImageNotPresent}
	checkHints(t, []hintTest{
		{"an image", missing, About{Image: "app:1"}, []string{"the node does not have app:1."}},
		{"one that is not known", missing, About{}, []string{"the node does not have the image."}},
	})
}

func TestHintOfNothing(t *testing.T) {
	if hint := Hint(nil, About{}); hint != "" {
		t.Errorf("no cause, but %q", hint)
	}
}

// Every cause has a hint that is complete, and that of a pod speaks of no blueprint.
func TestEveryCauseHasAHint(t *testing.T) {
	for _, code := range codes() {
		template := catalog.Lookup(code).Hint
		_, says := whys()[code]
		for name, about := range map[string]About{
			"pod":       {Namespace: "shop"},
			"workspace": {Blueprint: "dev", UserString: "alice~dev"},
		} {
			if says != strings.Contains(template, "{why}") {
				t.Errorf("%s: {why} and why do not go together", code)
			}
			hint := Hint(&v1.Cause{Code: code, Container: "app", Object: "pod/api"}, about)
			if len(hint) < 40 || strings.Contains(hint, "  ") {
				t.Errorf("%s of a %s: %q", code, name, hint)
			}
			for _, command := range []string{
				"{range .items[*]}", "{.metadata.name}", "{.spec.schedulingGates}", "{end}",
				`{"\n"}`, `{"spec":{"suspend":false}}`, `{"imagePullSecrets":[{"name":"registry"}]}`,
			} {
				hint = strings.ReplaceAll(hint, command, "")
			}
			if strings.Contains(hint, "{") {
				t.Errorf("%s has an unknown placeholder: %q", code, hint)
			}
			if name == "pod" && (strings.Contains(hint, "blueprint") || strings.Contains(hint, "rovision ")) {
				t.Errorf("%s of a pod speaks of blueprints: %q", code, hint)
			}
		}
	}
}

// What brings a workspace back whose pod is over comes first in a hint, with its storage; nobody
// who has a workspace is sent to the specification of a pod, whose blueprint may not be known.
func TestHintsOfPodsThatAreOver(t *testing.T) {
	workspace := About{UserString: "alice~dev", Blueprint: "dev", Namespace: "team"}
	unnamed := About{UserString: "alice~dev", Namespace: "team"}
	const back = "Bring it back, any storage it has is kept: `berth start alice~dev --namespace team`."
	for _, code := range []string{
		Evicted, NodeOutOfProcesses, Preempted, NodeOutOfResources, NodeAffinity, DeadlineExceeded, PodFailed,
		PodDeleted,
	} {
		for name, about := range map[string]About{"of a blueprint": workspace, "of no known blueprint": unnamed} {
			if got := Hint(&v1.Cause{Code: code}, about); !strings.HasPrefix(got, back) ||
				strings.Count(got, back) != 1 {
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
