package cmdutil

import (
	"testing"

	"github.com/spf13/cobra"
)

// The workspaces of one user are changed: a second name does not replace the first.
func TestOwnerFlag(t *testing.T) {
	var owner string
	cmd := &cobra.Command{Use: "delete"}
	AddOwnerFlag(cmd, &owner, "delete all workspaces of this user")
	if err := cmd.ParseFlags([]string{"--owner", "alice"}); err != nil || owner != "alice" {
		t.Errorf("%q, %v", owner, err)
	}
	if err := cmd.ParseFlags([]string{"--owner", "bob"}); err == nil || owner != "alice" {
		t.Errorf("%q, %v", owner, err)
	}
}
