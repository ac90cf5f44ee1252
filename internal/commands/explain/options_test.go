package explain_test

import (
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/explain"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *explain.Options) { o.IO = terminal.Streams{} }
	cmdtest.Options(t, explain.NewCmd, forget, map[string]cmdtest.Case[explain.Options]{
		"all causes":        {},
		"one":               {Args: "CrashLoop", Want: explain.Options{Cause: "CrashLoop"}},
		"two":               {Args: "CrashLoop OOMKilled", Err: "accepts at most one cause, got 2"},
		"a format of lines": {Args: "-o jsonl", Err: "must be one of: text, wide, json"},
	})
}
