package progress

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// Dated lines with IDs, and the causes and hints at the end.
func TestBatchTranscripts(t *testing.T) {
	for name, b := range map[string]*terminaltest.Many{
		"team": terminaltest.Team(), "interrupted": terminaltest.Broken(),
		"stranded": terminaltest.Stranded(),
	} {
		stdout, stderr := renderBatch(t, b, "text")
		if stdout != "" {
			t.Errorf("progress on stdout: %q", stdout)
		}
		goldentest.Check(t, "batch/"+name+"-lines.txt", stderr)
		stdout, stderr = renderBatch(t, b, "jsonl")
		if stderr != "" {
			t.Errorf("on stderr: %q", stderr)
		}
		goldentest.Check(t, "batch/"+name+".jsonl", stdout)
	}
}

func renderBatch(t *testing.T, b *terminaltest.Many, output string) (stdout, stderr string) {
	t.Helper()
	streams, buffers := terminal.Test("", terminaltest.T0)
	r := New(streams, format(t, output), b.Batch)
	for _, e := range b.Events {
		r.Handle(e)
	}
	return buffers.Out.String(), buffers.Err.String()
}

func TestRemovalsPlain(t *testing.T) {
	b, events := terminaltest.Removals()
	_, text := renderBatch(t, &terminaltest.Many{Batch: b, Events: events}, "text")
	for _, want := range []string{
		"a-1234567 deleted: 6 objects in 1.5s", "b-1234567 deleted: 1 object in 0.5s, the pod may still be terminating",
		"c-1234567 not found: there is nothing to delete", "summary: 2 of 4 deleted after 1.5s, 1 not found, 1 failed",
		"d-1234567 summary FAILED: d: workspace d is held",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
