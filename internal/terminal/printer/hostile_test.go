package printer

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func TestTextFromElsewhereInDocuments(t *testing.T) {
	terminaltest.Harmless(t, "status", printed(t, "wide", terminaltest.HostileWorkspace(), 0, style.NoColour))
	terminaltest.Harmless(t, "list", printed(t, "wide", &v1.WorkspaceList{Items: []v1.Workspace{*terminaltest.HostileWorkspace()}}, 200, style.NoColour))
}
