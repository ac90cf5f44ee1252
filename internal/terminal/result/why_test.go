package result_test

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// In a list, the code of a cause comes first, and is whole at every width that has room for
// it; of the message there is what fits.
func TestWhyBeginsWithTheCode(t *testing.T) {
	w := terminaltest.Workspace(v1.StageFailed, v1.Snapshot{Cause: &v1.Cause{
		Code: "ImageNotFound", Container: "k8shell-main",
		Message: "container k8shell-main: image registry.example.com/team/dev-tools:1.5 cannot be pulled: not found",
	}})
	for width, want := range map[int]string{
		0:   "ImageNotFound: image registry.example.com/team/dev-tools:1.5 cannot be pulled: not found (k8shell-main)",
		200: "ImageNotFound: image registry.example.com/team/dev-tools:1.5 cannot be pulled: not found (k8shell-main)",
		100: "ImageNotFound: image re…",
		80:  "ImageNotFound:…",
		60:  "ImageNotFound: imag…",
		50:  "ImageNotFound",
	} {
		list := result.Workspaces{WorkspaceList: v1.WorkspaceList{Items: []v1.Workspace{w}}}
		if got := printed(t, "text", list, width, style.NoColour); !strings.Contains(got, "   "+want) {
			t.Errorf("%d columns: want %q in\n%s", width, want, got)
		}
	}
}
