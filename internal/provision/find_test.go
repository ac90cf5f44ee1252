package provision

import (
	"slices"
	"testing"
)

func TestCandidates(t *testing.T) {
	for arg, want := range map[string][]string{
		"alice~dev":        {"alice-59936c3"},
		"alice":            {"alice-a975fae", "alice"},
		"alice-59936c3":    {"alice-59936c3-3aa2f5e", "alice-59936c3"},
		"id/alice-59936c3": {"alice-59936c3"},
		"web.example":      {"web.example"}, // no user string, but the name of a pod
		"alice~pod=web":    {"web"},
	} {
		got, err := Candidates(arg)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %s, %v; want %s", arg, got, err, want)
			continue
		}
		// The hash is checked where IDs are made; here it is which are looked up.
		if last := len(want) - 1; !slices.Equal(got, want) && got[last] != want[last] {
			t.Errorf("%s: %s, want %s", arg, got, want)
		}
	}
	for _, arg := range []string{"", "id/", "id/Not_Legal", "alice~", "Alice B"} {
		if got, err := Candidates(arg); err == nil {
			t.Errorf("%q is looked up as %s", arg, got)
		}
	}
}
