package provision

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/userstring"
)

// A failed run takes out of a workload what it has put there, and nothing else.
func TestMayUndo(t *testing.T) {
	for _, test := range []struct {
		name, record, job string
		replaced          bool
		says              string // empty if it may
	}{
		{"not injected yet", "", "", false, ""},
		{"as this run left it", `{"canonicalId":"alice-1"}`, "mine", false, ""},
		{"there before", `{"canonicalId":"alice-1"}`, "mine", true, "before this run"},
		{"injected again by somebody", `{"canonicalId":"alice-1"}`, "theirs", false, "somebody else"},
		{"rolled back by somebody", `{"canonicalId":"alice-1"}`, "", false, "somebody else"},
		{"another workspace", `{"canonicalId":"bob-2"}`, "theirs", false, "bob-2"},
		{"a record that nobody can read", `{`, "mine", false, "cannot be read"},
	} {
		r := &run{id: "alice-1", jobID: "mine", creation: creation{replaced: test.replaced}}
		r.found = inventory.Found{Workload: &workload.Workload{Ref: userstring.Workload{Kind: "deployment", Name: "web"}}}
		object := map[string]any{
			"metadata": map[string]any{},
			"spec":     map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{kube.LabelJobID: test.job}}}},
		}
		if test.record != "" {
			object["metadata"] = map[string]any{"annotations": map[string]any{kube.AnnotationInjection: test.record}}
		}
		err := r.mayUndo(object)
		if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.name, err, test.says)
		}
	}
}

// A claim stays unless this run has made it.
func TestWhichClaimsAreSpared(t *testing.T) {
	var c creation
	c.add(apply.Changes{
		{Action: apply.Created, Object: kube.Named("PersistentVolumeClaim", "made")},
		{Action: apply.Unchanged, Object: kube.Named("PersistentVolumeClaim", "there")},
	})
	for name, want := range map[string]bool{"made": false, "there": true, "unheard": true} {
		if got := c.spares(kube.Named("PersistentVolumeClaim", name)); got != want {
			t.Errorf("%s is spared: %t", name, got)
		}
	}
	if c.spares(kube.Named("ConfigMap", "there")) {
		t.Error("a ConfigMap is spared")
	}
}
