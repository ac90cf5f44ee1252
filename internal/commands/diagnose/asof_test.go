package diagnose_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/diagnose"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/watch/cause"
)

// A dump says the same tomorrow: it is read as of the newest time in it, which the text
// names. It is not named where --now says it, and where there is none.
func TestAsOf(t *testing.T) {
	const (
		dump  = "testdata/cases/formats/yaml-list.yaml"
		named = "as of 2026-11-20 23:54:42 UTC, the newest time in the dump"
	)
	text := func(now time.Time, o diagnose.Options) string {
		streams, b := terminal.Test("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", now)
		o.IO, o.FromFile = streams, true
		o.Config = func() (config.Config, error) { return config.Config{Policy: cause.DefaultPolicy()}, nil }
		if err := diagnose.Run(context.Background(), &o); err != nil {
			t.Fatal(err)
		}
		return b.Out.String()
	}
	today := time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC)
	tomorrow := today.AddDate(0, 0, 1)
	said := text(today, diagnose.Options{File: dump})
	if !strings.Contains(said, named) {
		t.Errorf("%q is not in\n%s", named, said)
	}
	if again := text(tomorrow, diagnose.Options{File: dump}); again != said {
		t.Errorf("tomorrow it says\n%s\nnot\n%s", again, said)
	}
	for _, o := range []diagnose.Options{
		{File: dump, Now: today},
		{File: "-"},
		{File: recordings + "oomkilled.jsonl"},
	} {
		if said := text(today, o); strings.Contains(said, "as of") {
			t.Errorf("%s at %s:\n%s", o.File, o.Now, said)
		}
	}
}
