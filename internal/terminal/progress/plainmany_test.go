package progress

import (
	"bytes"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// Dated lines with IDs, and the causes and hints at the end.
func TestBatchTranscripts(t *testing.T) {
	for name, b := range map[string]*terminaltest.Many{"team": terminaltest.Team(), "interrupted": terminaltest.Broken(), "stranded": terminaltest.Stranded()} {
		stdout, stderr := toldOfMany(b, ModePlain)
		if stdout != "" {
			t.Errorf("progress on stdout: %q", stdout)
		}
		terminaltest.Golden(t, "batch/"+name+"-lines.txt", stderr)
		stdout, stderr = toldOfMany(b, ModeJSONL)
		if stderr != "" {
			t.Errorf("on stderr: %q", stderr)
		}
		terminaltest.Golden(t, "batch/"+name+".jsonl", stdout)
	}
}

func toldOfMany(b *terminaltest.Many, mode Mode) (stdout, stderr string) {
	streams, buffers := terminal.Test("", terminaltest.T0)
	r := OfMany(streams, mode, b.Batch)
	for _, e := range b.Events {
		r.Handle(e)
	}
	r.Stop()
	return buffers.Out.String(), buffers.Err.String()
}

func TestRemovalsPlain(t *testing.T) {
	b, events := terminaltest.Removals()
	var out bytes.Buffer
	p := newPlainMany(terminal.Output{Writer: &out}, b)
	for _, e := range events {
		p.Handle(e)
	}
	for _, want := range []string{
		"a-1234567 deleted: 6 objects in 1.5s", "b-1234567 deleted: 1 object in 0.5s, the pod may still be ending",
		"c-1234567 deleted: it was not there", "summary: 3 of 4 deleted after 1.5s, 1 failed", "d-1234567 summary NOT_FOUND: d: there is no workspace d",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
