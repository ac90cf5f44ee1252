package progress

import (
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

const (
	ms = time.Millisecond
	sc = time.Second
)

// render feeds a renderer and gives what it wrote.
func render(t *testing.T, s *terminaltest.Script, output string) (stdout, stderr string) {
	t.Helper()
	streams, b := terminal.Test("", terminaltest.T0)
	r := New(streams, format(t, output), terminaltest.Single(terminaltest.Alice))
	for _, e := range s.Events {
		r.Handle(e)
	}
	return b.Out.String(), b.Err.String()
}

func TestPlainTranscripts(t *testing.T) {
	for name, s := range map[string]*terminaltest.Script{
		"success": terminaltest.Succeeding(), "crash-loop": terminaltest.CrashLoop(),
		"timed-out":   terminaltest.TimedOut(),
		"stuck":       terminaltest.Stuck(),
		"interrupted": terminaltest.Interrupted(), "deleted": terminaltest.Deleted(false),
		"refused": terminaltest.Refused(), "image-not-found": terminaltest.ImageNotFound(),
		"scripts": terminaltest.Scripts(), "scripts-strict": terminaltest.StrictScripts(),
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr := render(t, s, "text")
			if stdout != "" {
				t.Errorf("progress on stdout: %q", stdout)
			}
			goldentest.Check(t, "plain/"+name+".txt", stderr)
		})
	}
}

// A cause and a warning are written once while they are the same, whatever their words, counts
// and how often they alternate; again when they are others, or were gone.
func TestPlainTellsOnce(t *testing.T) {
	reading := func(stage v1.Stage, code, message string, warnings ...v1.Warning) v1.Event {
		s := v1.Snapshot{Stage: stage, Message: "web", Warnings: warnings}
		if code != "" {
			s.Cause = &v1.Cause{Code: code, Message: message, Object: "pod/alice"}
		}
		return v1.Event{Stage: &s}
	}
	warned := func(message string, count int) v1.Warning {
		return v1.Warning{Reason: "FailedMount", Object: "pod/alice", Message: message, Count: count}
	}
	own := v1.Event{Warning: &v1.Warning{Reason: "NotRecorded", Message: "it is not recorded", Count: 1}}
	p := newPlain(terminal.Output{}, terminaltest.Single(terminaltest.Alice))
	missing, late := `configmap "team-1" not found`, "timed out after 2m3s: context deadline exceeded"
	for i, step := range []struct {
		event v1.Event
		lines int
		says  string
	}{
		{reading(v1.StageStarting, "", ""), 1, "stage Starting: web"},
		{own, 1, "warning NotRecorded"},
		{reading(v1.StageStarting, "VolumeMissingObject", missing), 1, "cause VolumeMissingObject: configmap"},
		{reading(v1.StageStarting, "VolumeMissingObject", missing), 0, ""},
		{reading(v1.StageStarting, "VolumeMissingObject", late), 1, "timed out"},
		{reading(v1.StageStarting, "VolumeMissingObject", missing), 0, ""},
		{reading(v1.StageStarting, "VolumeMissingObject", "timed out after 4m8s: context deadline exceeded"), 0, ""},
		{reading(v1.StageStarting, "VolumeMissingObject", `configmap "team-2" not found`), 1, "team-2"},
		{reading(v1.StageStarting, "SandboxFailed", "no network"), 1, "cause SandboxFailed"},
		{reading(v1.StageStarting, "VolumeMissingObject", missing), 1, "team-1"},
		{reading(v1.StageStarting, "", ""), 0, ""},
		{reading(v1.StageStarting, "VolumeMissingObject", missing), 1, "team-1"},
		{reading(v1.StageStarting, "", "", warned("broken pipe 1", 1)), 1, "warning FailedMount: broken pipe"},
		{reading(v1.StageStarting, "", "", warned("broken pipe 2", 40)), 0, ""},
		{
			reading(v1.StageStarting, "", "", warned("no such device", 1), warned("broken pipe 2", 80)), 1,
			"no such device",
		},
		{reading(v1.StageStarting, "", ""), 0, ""},
		{own, 0, ""},
		{reading(v1.StageStarting, "", "", warned("broken pipe 3", 1)), 1, "broken pipe"},
		{reading(v1.StagePulling, "", "", warned("broken pipe 3", 2)), 1, "stage Pulling: web"},
		{reading(v1.StageStarting, "", "", warned("broken pipe 3", 3)), 1, "stage Starting: web"},
	} {
		step.event.At = terminaltest.T0.Add(time.Duration(i) * time.Minute)
		if got := p.text(step.event); strings.Count(got, "\n") != step.lines || !strings.Contains(got, step.says) {
			t.Errorf("step %d writes %q, want %d lines with %q", i, got, step.lines, step.says)
		}
	}
}

func TestPlainHasNoColourEvenWhenForced(t *testing.T) {
	streams, b := terminal.Test("", terminaltest.T0)
	streams.Err.Profile = style.Colour256
	r := New(streams, printer.Format{}, terminaltest.Single(terminaltest.Alice))
	for _, e := range terminaltest.Refused().Events {
		r.Handle(e)
	}
	if out := b.Err.String(); strings.Contains(out, "\x1b") || out == "" {
		t.Errorf("escape sequences in plain lines: %q", out)
	}
}
