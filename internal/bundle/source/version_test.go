package source_test

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

// The newest version that fits is taken, as Helm does.
func TestChoose(t *testing.T) {
	some := []string{
		"1.2.0", "1.10.0", "latest", "1.9.3", "2.0.0-rc.1", "0.1.0+build.7", "v3.0.0", "main-1a2b", "1.9.4-dev",
	}
	for wanted, test := range map[string]struct {
		want string
		code fault.Code
		says string
	}{
		"1.2.0":         {want: "1.2.0"},
		"~1.9":          {want: "1.9.3"},
		"^1":            {want: "1.10.0"},
		"1.x":           {want: "1.10.0"},
		"*":             {want: "v3.0.0"},
		">=1.3 <1.10":   {want: "1.9.3"},
		"2.0.0-rc.1":    {want: "2.0.0-rc.1"},
		"~1.9.4-0":      {want: "1.9.4-dev"},
		"^2-0":          {want: "2.0.0-rc.1"},
		"0.1.0+build.7": {want: "0.1.0+build.7"},
		"0.1":           {want: "0.1.0+build.7"},
		"3.0.0":         {want: "v3.0.0"},
		"latest":        {want: "latest"}, // by its name
		"^2": {code: fault.NotFound, says: `a chart has no version "^2"; the newest are v3.0.0, ` +
			`2.0.0-rc.1, 1.10`},
		"4":   {code: fault.NotFound, says: "no version"},
		"new": {code: fault.InvalidArgument, says: `"new" is neither`},

		strings.Repeat("1", 257): {code: fault.InvalidArgument, says: "more than 256 characters"},
	} {
		got, err := source.Choose(some, wanted, "a chart")
		if got != test.want || fault.CodeOf(err) != test.code || err != nil &&
			!strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: %q, %s: %v", wanted, got, fault.CodeOf(err), err)
		}
	}
	if _, err := source.Choose([]string{"x"}, "1", "a chart"); !strings.Contains(err.Error(), "and no other") {
		t.Error(err)
	}
}
