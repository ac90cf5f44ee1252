package result_test

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// A wide text has everything in it: at a terminal as on a pipe, however narrow it is.
func TestWideCutsNothing(t *testing.T) {
	const long = "the first of many words about this, which go on for longer than any terminal is wide, so that it " +
		"is known how they end: here"
	at := terminaltest.Now
	workspace := v1.Workspace{
		ID: "alice-3f9c2e1", UserString: "alice~dev", Owner: "alice", Blueprint: "dev", Namespace: "team",
		CreatedAt: at,
		Snapshot: v1.Snapshot{
			Stage: v1.StagePulling, Since: at, Message: long,
			Warnings: []v1.Warning{{Reason: "FailedMount" + strings.Repeat("Again", 10), Message: long, At: at}},
		},
		Events: []v1.ObjectEvent{{
			At: at, Type: "Warning", Reason: "FailedMount", Object: "pod/alice-3f9c2e1",
			Message: long,
		}},
	}
	job := provisioned()
	job.Timeline[0].Message = long
	stats := counted()
	for name, doc := range map[string]result.Kind{
		"a list of workspaces": result.Workspaces{WorkspaceList: v1.WorkspaceList{Items: []v1.Workspace{workspace}}},
		"a workspace":          result.Workspace{Workspace: workspace},
		"a list of jobs":       result.Jobs{JobList: v1.JobList{Items: []v1.Job{job}}},
		"a job":                result.Job{Job: job},
		"volumes": result.Volumes{VolumeList: v1.VolumeList{Items: []v1.Volume{{
			Node: "node-1", ID: "csi-1",
			Failure: long,
		}}}},
		"statistics": result.JobStats{JobStats: stats},
	} {
		pipe := printed(t, "wide", doc, 0, style.NoColour)
		for _, width := range []int{40, 80, 120} {
			text := printed(t, "wide", doc, width, style.NoColour)
			if strings.Contains(text, "…") {
				t.Errorf("%s, %d columns: something is cut:\n%s", name, width, text)
			}
			if strings.Count(words(pipe), long) > strings.Count(words(text), long) {
				t.Errorf("%s, %d columns: less than on a pipe:\n%s", name, width, text)
			}
		}
	}
}

// words are a text without its line breaks.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }
