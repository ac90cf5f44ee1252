package chosen_test

import (
	"errors"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdutil/chosen"
	"github.com/berthdev/berth/internal/fault"
)

// Only what was not found for want of a permission is that; everything else stays.
func TestOrDenied(t *testing.T) {
	denied := fault.New(fault.PermissionDenied, "you may not list secrets")
	gone := fault.New(fault.NotFound, "not found")
	for _, test := range []struct {
		err  error
		want fault.Code
	}{
		{nil, ""},
		{denied, fault.PermissionDenied},
		{gone, fault.NotFound},
		{fault.New(fault.NotFound, "it cannot be seen: %w", denied), fault.PermissionDenied},
		{fault.New(fault.NotFound, "it cannot be read: %w", gone), fault.NotFound},
		{errors.New("unexpected"), fault.Internal},
	} {
		if got := chosen.OrDenied(test.err); fault.CodeOf(got) != test.want {
			t.Errorf("%v became %v", test.err, got)
		}
	}
}

// The command that goes on with some names each as it was typed, or as it is called in the one
// namespace; those of several namespaces have no such names.
func TestBatchGoesOnWithSome(t *testing.T) {
	again := func(c chosen.Choice) string { return c.Again("stop", []string{"-n team"}) }
	all := []chosen.Workspace{
		{Typed: "alice", ID: "alice-1", Namespace: "team"},
		{Typed: "id/bob-1", ID: "bob-1", Namespace: "team"},
		{UserString: "alice~dev", ID: "alice-2", Namespace: "team"},
		{ID: "alice-3", Namespace: "team"},
	}
	typed := chosen.Choice{Args: []string{"alice", "id/bob-1"}, Parallel: 2}.Batch("team", all[:2], "stop", again, nil)
	if got := typed.AgainFor([]int{1}); got != "berth stop id/bob-1 --parallel 2 -n team" {
		t.Error(got)
	}
	owned := chosen.Choice{ByOwner: true, Owner: "alice", Parallel: 4}
	if got := owned.Batch("team", all[2:], "stop", again, nil).AgainFor([]int{0, 1}); got != "berth stop alice~dev id/alice-3 -n team" {
		t.Error(got)
	}
	all[3].Namespace = "other"
	if got := owned.Batch("team", all[2:], "stop", again, nil); got.AgainFor != nil || got.Again != "berth stop --owner alice -n team" {
		t.Errorf("%+v", got)
	}
}
