package cp

import "testing"

// Flags are completed for the workspace, in whichever argument it is.
func TestWorkspaceOf(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"alice~dev:x"}, "alice~dev"},
		{[]string{"notes.txt", "id/alice-a975fae:"}, "id/alice-a975fae"},
		{[]string{"./a:b", "alice:x"}, "alice"},
		{[]string{"notes.txt"}, ""},
		{[]string{":x"}, ""},
		{nil, ""},
	} {
		if got := workspaceOf(c.args); got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}
