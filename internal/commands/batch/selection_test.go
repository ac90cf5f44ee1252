package batch_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/fault"
)

// Of several arguments that are wrong, each is shown with the place, as a single one is.
func TestWrongArgumentsAreShown(t *testing.T) {
	_, err := batch.Selection{Args: []string{"alice~dev", "a b", "x~~"}, Parallel: 1}.Parse("deleted")
	f := fault.From(err)
	want := []string{
		"\"a b\": user string: invalid character ' ' in the username: use letters, digits, . _ - and @, or write it " +
			"as %20\n  a b\n   ^ character 2",
		"\"x~~\": user string: '~' must be written as %7E here\n  x~~\n    ^ character 3",
	}
	if f.Message != "2 of 3 arguments are invalid; nothing was deleted" || !slices.Equal(f.Problems, want) {
		t.Errorf("%s: %q, want %q", f.Message, f.Problems, want)
	}
	cmdtest.Offline(t)
	_, stderr := cmdtest.Must(t, 2, "delete", "a b", "x~~", "--yes")
	const shown = `error: 2 of 2 arguments are invalid; nothing was deleted (INVALID_ARGUMENT)
       - "a b": user string: invalid character ' ' in the username: use letters, digits, . _ - and @, or write it as %20
           a b
            ^ character 2
       - "x~~": user string: '~' must be written as %7E here
           x~~
             ^ character 3
hint:  see ` + "`berth help user-strings`\n"
	if stderr != shown {
		t.Errorf("%s\nwant\n%s", stderr, shown)
	}
}

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
		if got := batch.OrDenied(test.err); fault.CodeOf(got) != test.want {
			t.Errorf("%v became %v", test.err, got)
		}
	}
}

// The command that goes on with some names each as it was typed, or as it is called in the one
// namespace; those of several namespaces have no such names.
func TestBatchGoesOnWithSome(t *testing.T) {
	again := func(c batch.Selection) string { return c.Again("stop", []string{"-n team"}) }
	all := []batch.Workspace{
		{Typed: "alice", ID: "alice-1", Namespace: "team"},
		{Typed: "id/bob-1", ID: "bob-1", Namespace: "team"},
		{UserString: "alice~dev", ID: "alice-2", Namespace: "team"},
		{ID: "alice-3", Namespace: "team"},
	}
	typed := batch.Selection{Args: []string{"alice", "id/bob-1"}, Parallel: 2}.Batch("team", all[:2], "stop", again,
		nil)
	if got := typed.AgainFor([]int{1}); got != "berth stop id/bob-1 --parallel 2 -n team" {
		t.Error(got)
	}
	owned := batch.Selection{ByOwner: true, Owner: "alice", Parallel: 4}
	if got := owned.Batch("team", all[2:], "stop", again, nil).
		AgainFor([]int{0, 1}); got != "berth stop alice~dev id/alice-3 -n team" {
		t.Error(got)
	}
	all[3].Namespace = "other"
	if got := owned.Batch("team", all[2:], "stop", again, nil); got.AgainFor != nil ||
		got.Again != "berth stop --owner alice -n team" {
		t.Errorf("%+v", got)
	}
}
