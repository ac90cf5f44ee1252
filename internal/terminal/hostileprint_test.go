package terminal

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

func TestTextFromElsewhereInDocuments(t *testing.T) {
	Harmless(t, "status", printed(t, "wide", HostileWorkspace(), 0, NoColour))
	Harmless(t, "list", printed(t, "wide", &v1.WorkspaceList{Items: []v1.Workspace{*HostileWorkspace()}}, 200, NoColour))
}
