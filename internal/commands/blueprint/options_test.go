package blueprint_test

import (
	"testing"

	"github.com/berthdev/berth/internal/commands/blueprint"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	type cases = map[string]cmdtest.Case[blueprint.Options]
	forget := func(o *blueprint.Options) { o.IO, o.Config, o.Load, o.Configured = terminal.Streams{}, nil, nil, nil }
	cmdtest.Options(t, blueprint.NewList, forget, cases{
		"a list":             {Args: "--blueprints bp"},
		"a list of one":      {Args: "dev", Err: `unexpected argument "dev"`},
		"an unknown listing": {Args: "-o jsonl", Err: "must be one of: text, wide, json"},
	})
	cmdtest.Options(t, blueprint.NewShow, forget, cases{
		"one":              {Args: "dev", Want: blueprint.Options{Name: "dev"}},
		"one with origins": {Args: "dev --origins", Want: blueprint.Options{Name: "dev", Origins: true}},
		"none":             {Err: "requires one blueprint, got 0"},
	})
	cmdtest.Options(t, blueprint.NewValidate, forget, cases{
		"the configured directory": {Want: blueprint.Options{Paths: []string{}}},
		"some files":               {Args: "a.yaml b", Want: blueprint.Options{Paths: []string{"a.yaml", "b"}}},
	})
	cmdtest.Options(t, blueprint.NewConvert, forget, cases{
		"to look":  {Args: "bp", Want: blueprint.Options{Paths: []string{"bp"}}},
		"apart":    {Args: "bp --to x", Want: blueprint.Options{Paths: []string{"bp"}, To: "x"}},
		"in place": {Args: "bp --in-place", Want: blueprint.Options{Paths: []string{"bp"}, InPlace: true}},
		"both":     {Args: "bp --in-place --to x", Err: "--in-place and --to are mutually exclusive"},
		"nothing":  {Err: "requires one file or directory, got 0"},
	})
}
