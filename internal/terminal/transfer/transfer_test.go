package transfer_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/transfer"
)

// The line has bytes, rate and number of files, and how much there is if that is known.
func TestLine(t *testing.T) {
	st := style.New(style.NoColour, true)
	for want, s := range map[string]transfer.Sample{
		"⠋ 3MiB · 12 files · 1.5MiB/s · 2s":           {Bytes: 3 << 20, Files: 12, Since: 2 * time.Second},
		"⠋ 1Ki of 4KiB, 25% · 1 file · 1KiB/s · 1s":   {Bytes: 1 << 10, Total: 4 << 10, Files: 1, Since: time.Second},
		"⠋ 0B · 0 files · 0B/s · 0s":                  {},
		"⠋ 5Ki of 4KiB, 100% · 0 files · 5KiB/s · 1s": {Bytes: 5 << 10, Total: 4 << 10, Since: time.Second},
	} {
		if got := transfer.Line(st, s, 0); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Without a terminal, nothing is shown.
func TestQuietInPipes(t *testing.T) {
	s, b := terminal.Test("", time.Time{})
	transfer.Start(s, func() transfer.Sample {
		t.Error("nobody looks")
		return transfer.Sample{}
	}).Stop()
	if b.Err.Len() > 0 {
		t.Errorf("%q", b.Err)
	}
}
