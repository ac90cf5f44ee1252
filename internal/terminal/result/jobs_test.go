package result_test

import (
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// provisioned is a job with everything that a timeline can have.
func provisioned() v1.Job {
	at := func(seconds float64) time.Time {
		return terminaltest.Now.Add(style.Seconds(seconds - 30))
	}
	span := func(kind v1.JobSpanType, name string, began, took float64) v1.JobSpan {
		return v1.JobSpan{Type: kind, Name: name, BeganAt: at(began), Seconds: took, State: v1.StepEnded}
	}
	failed := span(v1.JobSpanScript, "dotfiles", 18, 4)
	failed.State, failed.Message = v1.StepFailed, "init script failed with exit code 1"
	warned := span(v1.JobSpanWarning, "FailedScheduling", 0.4, 0)
	warned.Message = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found (x2 over 1s)"
	return v1.Job{
		ID: "5f0c1a52-9d7b-4c55-a3b1-2a8c0f6f1e77", WorkspaceName: "alice-3f9c2e1", Username: "alice", Blueprint: "dev",
		Node: "node-1", Image: "registry.example.com/dev:v1",
		Status: v1.JobStatusCompleted, State: v1.JobSucceeded, Stage: v1.StageRunning,
		CreatedAt: at(0), UpdatedAt: at(24), FinishedAt: at(24),
		Timeline: []v1.JobSpan{
			span(v1.JobSpanStep, "identity", 0, 0.04), span(v1.JobSpanStep, "install", 0.05, 0.2),
			span(v1.JobSpanStage, "Scheduling", 0.3, 1.2),
			warned, span(v1.JobSpanStage, "Initializing", 1.5, 3), span(v1.JobSpanContainer, "init-repository", 1.6,
				0.4),
			span(v1.JobSpanStage, "Pulling", 4.5, 12.5), span(v1.JobSpanContainer, "k8shell-main", 4.6, 12.6),
			span(v1.JobSpanStage, "Starting", 17, 7), failed,
		},
		Events: []v1.JobEvent{{
			ID: "1", Type: v1.JobEventStatus, Timestamp: at(0.3), ObjectName: "pod/alice-3f9c2e1",
			Status: "Provisioning", Message: "Scheduling",
		}},
	}
}

// golden compares a document with a file for each of some terminals and for a pipe. No line is
// as wide as the terminal.
func goldenOf(t *testing.T, name string, doc result.Kind) {
	t.Helper()
	for _, c := range []struct {
		suffix  string
		width   int
		profile style.Profile
		ascii   bool
	}{
		{"pipe", 0, style.NoColour, false},
		{"40", 40, style.NoColour, false},
		{"80", 80, style.NoColour, false},
		{"140", 140, style.NoColour, false},
		{"colour", 80, style.Colour16, false},
		{"ascii", 80, style.NoColour, true},
	} {
		s, b := terminal.Test("", terminaltest.Now)
		s.Out.Profile, s.Out.Unicode = c.profile, !c.ascii
		if c.width > 0 {
			s.Out.TTY, s.Out.Size = true, func() (int, int) { return c.width, 40 }
		}
		if err := printer.Print(s, printer.Format{}, doc); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(b.Out.String(), "\n") {
			// what is labelled may be long
			if c.width > 0 && style.Width(line) >= c.width && !strings.Contains(line, ": ") {
				t.Errorf("%s: %d columns: %q", c.suffix, style.Width(line), line)
			}
		}
		goldentest.Check(t, "jobs/"+name+"-"+c.suffix+".txt", terminaltest.Visible(b.Out.String()))
	}
}

// A history is bars on one axis at a terminal; elsewhere it is numbers, and all that is recorded.
func TestHistory(t *testing.T) {
	goldenOf(t, "history", result.Jobs{JobList: v1.JobList{Items: []v1.Job{provisioned()}}, Full: true})
}

// What has not ended goes on until now, and what has failed ends where it failed.
func TestHistoryOfOthers(t *testing.T) {
	running, old := provisioned(), provisioned()
	running.State, running.Status, running.Stage, running.FinishedAt = v1.JobRunning, v1.JobStatusRunning,
		v1.StagePulling, time.Time{}
	running.Timeline = running.Timeline[:7]
	running.Timeline[6].State, running.Timeline[6].Seconds = v1.StepBegun, 0
	running.Cause = "ImagePullBackOff"
	old.Timeline, old.Blueprint, old.Node, old.Image = nil, "", "", ""
	goldentest.Check(t, "jobs/others-80.txt",
		printed(t, "text", result.Jobs{JobList: v1.JobList{Items: []v1.Job{running, old}}, Full: true}, 80,
			style.NoColour))
}

func counted() v1.JobStats {
	stages := func(scale float64) []v1.StagePercentiles {
		return []v1.StagePercentiles{
			{Stage: v1.StageScheduling, Percentiles: v1.Percentiles{
				Jobs: 12, Median: 0.1, P90: 0.4 * scale,
				Max: 2.4 * scale,
			}},
			{Stage: v1.StagePulling, Percentiles: v1.Percentiles{
				Jobs: 4, Median: 6 * scale, P90: 12.4 * scale,
				Max: 15 * scale,
			}},
			{Stage: v1.StageStarting, Percentiles: v1.Percentiles{
				Jobs: 12, Median: 3.1 * scale, P90: 3.9 * scale,
				Max: 4 * scale,
			}},
		}
	}
	dev := v1.JobGroup{
		Name: "registry.example.com/shop/slow:v1", Jobs: 9, Succeeded: 6, Failed: 2, Running: 1,
		Causes:       []v1.JobCause{{Code: "CrashLoop", Jobs: 1}, {Code: "ImageNotFound", Jobs: 1}},
		UntilRunning: &v1.Percentiles{Jobs: 6, Median: 12, P90: 16, Max: 20}, Stages: stages(1),
	}
	unknown := v1.JobGroup{
		Jobs: 3, Succeeded: 3, UntilRunning: &v1.Percentiles{Jobs: 3, Median: 4, P90: 6, Max: 6},
		Stages: stages(0.3)[:1],
	}
	total := dev
	total.Name, total.Jobs, total.Succeeded = "", 12, 9
	return v1.JobStats{
		OldestAt: terminaltest.Now.Add(-50 * time.Hour), KeptSeconds: 48 * 3600, Total: total,
		Groups: []v1.JobGroup{dev, unknown},
	}
}

func TestJobStats(t *testing.T) {
	doc := counted()
	doc.Groups = nil
	goldenOf(t, "stats", result.JobStats{JobStats: doc})
	goldentest.Check(t, "jobs/stats.json", printed(t, "json", result.JobStats{JobStats: doc}, 0, style.NoColour))
	doc = counted()
	doc.By = v1.JobsByImage
	goldenOf(t, "stats-by-image", result.JobStats{JobStats: doc})
}

// How far back the records reach is said, and what they do not say.
func TestReach(t *testing.T) {
	doc := counted()
	doc.Groups = nil
	page := style.Page{Now: terminaltest.Now}
	const all = "12 jobs; the oldest record is 2d2h old, records are kept for 48h"
	if got := (result.JobStats{JobStats: doc}).Reach(page, "48h"); got != all {
		t.Errorf("%q", got)
	}
	doc = counted()
	doc.By, doc.Since = v1.JobsByNode, terminaltest.Now.Add(-7*24*time.Hour)
	const some = "12 jobs of the last 7d; the oldest record is 2d2h old, records are kept for 48h; 3 do not " +
		"say the node (-)"
	if got := (result.JobStats{JobStats: doc}).Reach(page, "48h"); got != some {
		t.Errorf("%q", got)
	}
}

// A list has the user strings before the IDs, as they are typed, if there is room; of records of
// earlier versions they are not known.
func TestJobsHaveUserStrings(t *testing.T) {
	j, old := provisioned(), provisioned()
	j.UserString = "alice~dev"
	old.ID, old.WorkspaceName = "0b8e1a52-9d7b-4c55-a3b1-2a8c0f6f1e77", "bob-1234567"
	list := func(items ...v1.Job) result.Jobs {
		return result.Jobs{
			JobList: v1.JobList{Items: items},
			Short:   map[string]string{j.ID: "5f0c1a52", old.ID: "0b8e1a52"},
		}
	}
	for width, want := range map[int][2]string{
		0: {
			"JOB USERSTRING WORKSPACE USER STATUS AGE DURATION STAGE",
			"5f0c1a52 alice~dev alice-3f9c2e1 alice Succeeded",
		},
		100: {"JOB USERSTRING WORKSPACE USER STATUS AGE DURATION STAGE", "0b8e1a52 - bob-1234567 alice Succeeded"},
		80:  {"JOB USERSTRING WORKSPACE STATUS", "5f0c1a52 alice~dev "},
		60:  {"JOB WORKSPACE STATUS", "5f0c1a52 alice-3f9c2e1 Succeeded"},
	} {
		got := strings.Join(strings.Fields(printed(t, "text", list(j, old), width, style.NoColour)), " ")
		if !strings.HasPrefix(got, want[0]) || !strings.Contains(got, want[1]) {
			t.Errorf("%d columns: %s", width, got)
		}
	}
	if got := printed(t, "text", list(old), 0, style.NoColour); strings.Contains(got, "USERSTRING") {
		t.Errorf("no user string is known:\n%s", got)
	}
}
