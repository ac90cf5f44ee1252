package result_test

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func TestTextFromElsewhereInDocuments(t *testing.T) {
	terminaltest.Harmless(t, "status",
		printed(t, "wide", result.Workspace{Workspace: *terminaltest.HostileWorkspace()}, 0, style.NoColour))
	terminaltest.Harmless(t, "list",
		printed(t, "wide",
			result.Workspaces{WorkspaceList: v1.WorkspaceList{Items: []v1.Workspace{*terminaltest.HostileWorkspace()}}},
			200, style.NoColour))
	terminaltest.Harmless(t, "the configuration of ssh", printed(t, "text", result.SSHConfiguration{
		SSHConfiguration: v1.SSHConfiguration{Files: []v1.SSHFile{
			{Path: terminaltest.Hostile, Change: v1.SSHFileChanged, Diff: "+" + terminaltest.Hostile + "\n \x1b[2J"},
		}},
	}, 0, style.NoColour))
}
