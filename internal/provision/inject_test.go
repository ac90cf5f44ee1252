package provision

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/userstring"
)

// What is done about a workload as it is found.
func TestDecideInjected(t *testing.T) {
	for _, test := range []struct {
		name  string
		by    string
		stage v1.Stage
		stale bool
		want  plan
	}{
		{"nothing in it", "", v1.StageUnknown, true, install},
		{"running", "alice-1", v1.StageRunning, false, refuse},
		{"running, of an older blueprint", "alice-1", v1.StageRunning, true, refuse},
		{"on its way", "alice-1", v1.StagePulling, false, resume},
		{"on its way, of an older blueprint", "alice-1", v1.StageStarting, true, replace},
		{"failed", "alice-1", v1.StageFailed, false, replace},
	} {
		f := inventory.Found{Workload: &workload.Workload{ID: "alice-1"}, Reading: v1.Snapshot{Stage: test.stage}}
		if test.by != "" {
			f.Workload.Record = &injection.Record{CanonicalID: test.by}
		}
		if got := decide(f, test.stale); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// injectNamespaces restricts where; without it the cluster decides.
func TestWhereInjectionIsAllowed(t *testing.T) {
	u, err := userstring.Parse("alice~dev+workload=deployment/web+ns=shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		namespaces []string
		code       fault.Code
	}{
		{nil, ""},
		{[]string{}, fault.PermissionDenied},
		{[]string{"other"}, fault.PermissionDenied},
		{[]string{"other", "shop"}, ""},
		{[]string{"*"}, ""},
	} {
		if err := (InjectionRules{Namespaces: test.namespaces}).allow(u); fault.CodeOf(err) != test.code {
			t.Errorf("%v: %v, want %q", test.namespaces, err, test.code)
		}
	}
	if err := (InjectionRules{Namespaces: []string{}}).allow(userstring.UserString{User: "alice"}); err != nil {
		t.Errorf("a workspace of its own: %v", err)
	}
}

// All that stands in the way is said at once, and whether one can insist.
func TestRefusal(t *testing.T) {
	paused := injection.Finding{Severity: injection.Refusal, Message: "paused", Hint: "resume"}
	host := injection.Finding{Severity: injection.Impossible, Message: "hostPID", Hint: "another"}
	one := fault.From(refusal([]injection.Finding{paused}))
	if one.Message != "paused" || one.Hint != "resume; or insist with --force" || one.Code != fault.Failed {
		t.Errorf("%+v", one)
	}
	two := fault.From(refusal([]injection.Finding{paused, host}))
	if len(two.Problems) != 2 || strings.Contains(two.Hint, "--force") {
		t.Errorf("%+v", two)
	}
}
