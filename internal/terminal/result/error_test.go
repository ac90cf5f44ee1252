package result_test

import (
	"errors"
	"fmt"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func several() v1.Error {
	f := fault.New(fault.InvalidArgument, "blueprint dev is not valid").
		WithHint("see them in place:\n  berth blueprint check dev")
	f.Problems = []string{"dev.yaml:7: image: no such\x1b[A tag", "dev.yaml:9: cpu: 2x is no quantity"}
	return *result.NewError(fmt.Errorf("provision: %w", f))
}

func TestErrors(t *testing.T) {
	running := fault.New(fault.AlreadyExists, "workspace alice-3f9c2e1 is already running").
		WithHint("enter it with `berth exec alice~dev`, or pass --if-not-exists")
	docs := map[string]v1.Error{
		"running": *result.NewError(running), "several": several(),
		"internal": *result.NewError(errors.New("unexpected EOF")),
	}
	for name, doc := range docs {
		for _, output := range []string{"text", "wide", "name", "json", "yaml", "jsonl"} {
			s, b := terminal.Test("", terminaltest.Now)
			if err := printer.PrintError(s, format(t, output), doc); err != nil {
				t.Fatal(err)
			}
			document := output == "json" || output == "yaml" || output == "jsonl"
			if document && b.Err.Len() > 0 || !document && b.Out.Len() > 0 {
				t.Errorf("%s as %s: stdout %q, stderr %q", name, output, b.Out, b.Err)
			}
			if output == "text" || document {
				goldentest.Check(t, "errors/"+name+"."+output, b.Out.String()+b.Err.String())
			}
		}
	}
	s, b := terminal.Test("", terminaltest.Now)
	s.Err.Profile = style.Colour16
	if err := printer.PrintError(s, printer.Format{}, several()); err != nil {
		t.Fatal(err)
	}
	goldentest.Check(t, "errors/several-colour.text", terminaltest.Visible(b.Err.String()))
}
