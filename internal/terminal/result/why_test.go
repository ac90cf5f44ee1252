package result_test

import (
	"slices"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
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

// The row of a batch has a cause as lists have it; of one with several lines, the first line alone.
func TestCauseInARow(t *testing.T) {
	page := style.Page{Styles: style.New(style.NoColour, true), Width: 100}
	for message, want := range map[string]string{
		"image dev:1 cannot be pulled":             "ImageNotFound: image dev:1 cannot be pulled",
		"image dev:1 cannot be pulled\nas it lies": "image dev:1 cannot be pulled",
	} {
		w := terminaltest.Workspace(v1.StageFailed,
			v1.Snapshot{Cause: &v1.Cause{Code: "ImageNotFound", Message: message}})
		failed := result.Error{Error: v1.Error{Code: string(fault.Failed), Workspace: &w}}
		if got := failed.Outcome(page, wording.Title{}, 0).Short; got != want {
			t.Errorf("%q is %q in a row, want %q", message, got, want)
		}
	}
}

func TestTextOfARemoval(t *testing.T) {
	page := style.Page{Styles: style.New(style.NoColour, true), Width: 100}
	missing := result.Removal{BundleRemoval: v1.BundleRemoval{Name: "shop", NotFound: true}}
	if lines, err := missing.Text(page); err != nil || !slices.Equal(lines, []string{"shop is not installed"}) {
		t.Errorf("%q, %v", lines, err)
	}
}
