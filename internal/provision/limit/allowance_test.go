package limit

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
)

func of(t *testing.T, text string) userstring.UserString {
	t.Helper()
	u, err := userstring.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A workspace more than a limit has room for is refused with the numbers. Anyone who has one
// already keeps it.
func TestAllowance(t *testing.T) {
	var there []v1.Workspace
	for _, text := range []string{"alice~a", "alice~b", "bob", "web_admin~a"} {
		u := of(t, text)
		w := v1.Workspace{ID: u.ID(), UserString: text, Owner: u.User}
		if text == "alice~b" {
			w.Stage = v1.StageStopped
		}
		there = append(there, w)
	}
	unnamed := v1.Workspace{ID: "carol-1", Owner: "carol"}
	for name, c := range map[string]struct {
		allowance *Allowance
		user      string
		there     []v1.Workspace
		want      string // all that is wrong; empty if it is admitted
	}{
		"no limit":          {NewAllowance(nil, nil), "alice~c", there, ""},
		"room for one more": {NewAllowance(new(3), nil), "alice~c", there, ""},
		"none more, a stopped one": {
			NewAllowance(new(2), nil), "alice~c", there,
			"alice has 2 workspaces in namespace dev, and at most 2 are allowed (limits.workspacesPerUser)",
		},
		"a limit that was lowered": {
			NewAllowance(new(1), nil), "alice~c", there,
			"alice has 2 workspaces in namespace dev, and at most 1 is allowed (limits.workspacesPerUser)",
		},
		"however the name is written": {
			NewAllowance(new(2), nil), "ALICE~c", there,
			"alice has 2 workspaces in namespace dev, and at most 2 are allowed (limits.workspacesPerUser)",
		},
		"one that is there":       {NewAllowance(new(1), new(1)), "alice~b", there, ""},
		"the first one of a user": {NewAllowance(new(1), nil), "carol", there, ""},
		"none are allowed": {
			NewAllowance(new(0), nil), "carol", there,
			"carol has no workspaces in namespace dev, and none are allowed (limits.workspacesPerUser)",
		},
		"known by its label alone": {
			NewAllowance(new(1), nil), "carol", append(there, unnamed),
			"carol has 1 workspace in namespace dev, and at most 1 is allowed (limits.workspacesPerUser)",
		},
		"room in the namespace": {NewAllowance(nil, new(5)), "carol", there, ""},
		"none more in the namespace": {
			NewAllowance(nil, new(4)), "carol", there,
			"namespace dev has 4 workspaces, and at most 4 are allowed (limits.workspaces)",
		},
		"an empty namespace": {NewAllowance(new(1), new(1)), "carol", nil, ""},
		"both": {
			NewAllowance(new(2), new(2)), "alice~c", there,
			"alice has 2 workspaces in namespace dev, and at most 2 are allowed (limits.workspacesPerUser)\n" +
				"namespace dev has 4 workspaces, and at most 2 are allowed (limits.workspaces)",
		},
	} {
		err := c.allowance.Admit(of(t, c.user), "dev", inventory.Found{}, Count{There: c.there})
		if err == nil || c.want == "" {
			if err != nil || c.want != "" {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			continue
		}
		f := fault.From(err)
		got := f.Message
		if len(f.Problems) > 0 {
			got = strings.Join(f.Problems, "\n")
		}
		if f.Code != fault.Failed || got != c.want || f.Hint == "" {
			t.Errorf("%s: %s %q, want %q; hint %q", name, f.Code, got, c.want, f.Hint)
		}
	}
}

// Only who creates a workspace has to know how many there are.
func TestAdmit(t *testing.T) {
	unknown := Count{Err: errors.New("unknown")}
	full := Count{There: []v1.Workspace{{ID: "alice-1", UserString: "alice~a"}}}
	for name, c := range map[string]struct {
		allowance *Allowance
		found     inventory.Found
		counted   Count
		want      bool
	}{
		"no limit":                {NewAllowance(nil, nil), inventory.Found{}, unknown, true},
		"a new one":               {NewAllowance(new(2), nil), inventory.Found{}, full, true},
		"one too many":            {NewAllowance(new(1), nil), inventory.Found{}, full, false},
		"the number is not known": {NewAllowance(new(1), nil), inventory.Found{}, unknown, false},
		"the number does not matter": {
			NewAllowance(new(1), nil),
			inventory.Found{Pod: new(corev1.Pod)},
			unknown,
			true,
		},
		"one that failed is made again": {NewAllowance(new(1), nil), inventory.Found{Pod: new(corev1.Pod)}, full, true},
	} {
		if err := c.allowance.Admit(of(t, "alice~b"), "dev", c.found, c.counted); (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of those that are provisioned together no more are admitted than there is room for. One
// that is tried again is the same.
func TestAllowanceOfABatch(t *testing.T) {
	a := NewAllowance(new(2), nil)
	there := Count{There: []v1.Workspace{{ID: of(t, "alice~a").ID(), UserString: "alice~a"}}}
	for _, c := range []struct {
		user, namespace string
		want            bool
	}{
		{"alice~b", "dev", true},
		{"alice~b", "dev", true},
		{"alice~c", "dev", false},
		{"bob~c", "dev", true},
		{"alice~c", "test", true},
	} {
		if err := a.Admit(of(t, c.user), c.namespace, inventory.Found{}, there); (err == nil) != c.want {
			t.Errorf("%s in %s: %v", c.user, c.namespace, err)
		}
	}
}
