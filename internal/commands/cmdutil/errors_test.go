package cmdutil

import "testing"

// A name is meant that is spelled like what was typed, or that alone begins so.
func TestNearestName(t *testing.T) {
	names := []string{"timeout", "owner", "output", "tail", "timestamps", "force"}
	for typed, want := range map[string]string{
		"tiemout": "timeout", "onwer": "owner", "owners": "owner", "otput": "output", "tial": "tail",
		"times": "timestamps",
		"Forc":  "force", "foce": "force",
		"": "", "t": "", "ti": "", "x": "", "nosuch": "", "timeout-of-all": "",
	} {
		if got := NearestName(typed, names); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	users := []string{"alice~dev", "bob~dev", "carol~repo=org/proj"}
	for typed, want := range map[string]string{
		"alice~dve": "alice~dev", "alise~dev": "alice~dev", "alice": "alice~dev", "bob~dev2": "bob~dev",
		"carol~repo=org/poj": "carol~repo=org/proj",
		"dave~dev":           "", "alice~data-science": "",
	} {
		if got := NearestName(typed, users); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
