package version_test

import (
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/version"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

func TestOptions(t *testing.T) {
	json, err := printer.ParseFormat("json")
	if err != nil {
		t.Fatal(err)
	}
	forget := func(o *version.Options) { o.IO = terminal.Streams{} }
	cmdtest.Options(t, version.NewCmd, forget, map[string]cmdtest.Case[version.Options]{
		"text":              {},
		"json":              {Args: "-o json", Want: version.Options{Output: json}},
		"the newest":        {Args: "--check", Want: version.Options{Check: true}},
		"an argument":       {Args: "x", Err: `unexpected argument "x"`},
		"a format of lists": {Args: "-o wide", Err: "must be one of: text, json, yaml"},
	})
}
