package job

import (
	"maps"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

func recordsOf(ids ...string) (records []Record) {
	for _, id := range ids {
		records = append(records, Record{ID: id, WorkspaceName: "alice-1", CreatedAt: at(0), UpdatedAt: at(0)})
	}
	return records
}

func TestShortIDs(t *testing.T) {
	for name, c := range map[string]struct {
		ids  []string
		want map[string]string
	}{
		"none": {nil, map[string]string{}},
		"seven characters": {
			[]string{"5f0c1a52-9d7b", "9b0c1a52-9d7b"},
			map[string]string{"5f0c1a52-9d7b": "5f0c1a5", "9b0c1a52-9d7b": "9b0c1a5"},
		},
		"as many as it takes": {
			[]string{"5f0c1a52-9d7b", "5f0c1a52-9e7b"},
			map[string]string{"5f0c1a52-9d7b": "5f0c1a52-9d", "5f0c1a52-9e7b": "5f0c1a52-9e"},
		},
		"in any order": {
			[]string{"5f0c1a52-9d7b", "9b0c1a52-9d7b", "5f0c1a52-9e7b"},
			map[string]string{"5f0c1a52-9d7b": "5f0c1a52-9d", "9b0c1a52-9d7b": "9b0c1a5", "5f0c1a52-9e7b": "5f0c1a52-9e"},
		},
		"a short one stays": {[]string{"x", "y"}, map[string]string{"x": "x", "y": "y"}},
		"one begins as another": {
			[]string{"5f0c1a5", "5f0c1a52"},
			map[string]string{"5f0c1a5": "5f0c1a5", "5f0c1a52": "5f0c1a52"},
		},
	} {
		if got := ShortIDs(recordsOf(c.ids...)); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The beginning of an ID is as good as the ID, unless two begin with it.
func TestChoose(t *testing.T) {
	records := recordsOf("5f0c1a52-9d7b", "5f0c1a52-9e7b", "9b0c", "9b0c1a52")
	for typed, c := range map[string]struct {
		want, problem string
		code          fault.Code
	}{
		"5f0c1a52-9d7b": {want: "5f0c1a52-9d7b"},
		"5f0c1a52-9e":   {want: "5f0c1a52-9e7b"},
		"9b0c":          {want: "9b0c"},
		"9b0c1":         {want: "9b0c1a52"},
		"5f":            {code: fault.InvalidArgument, problem: "5f0c1a52-9e7b (alice-1, Interrupted, 2026-11-20T12:00:00Z)"},
		"7":             {code: fault.NotFound},
		"0c1a52":        {code: fault.NotFound},
	} {
		got, err := choose(records, typed, at(3600))
		if got != c.want || fault.CodeOf(err) != c.code {
			t.Errorf("%s means %q, %v; want %q", typed, got, err, c.want)
		}
		if err != nil && !strings.Contains(strings.Join(fault.From(err).Problems, "\n"), c.problem) {
			t.Errorf("%s: the candidates are %q", typed, fault.From(err).Problems)
		}
	}
}
