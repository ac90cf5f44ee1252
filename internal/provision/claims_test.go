package provision

import (
	"slices"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// One claim that cannot follow is the message; several are the problems of one.
func TestUnchangeable(t *testing.T) {
	home, data := "storage home cannot be changed: it shrinks", "storage data cannot be changed: it shrinks"
	if err := unchangeable(nil); err != nil {
		t.Errorf("without any: %v", err)
	}
	for message, problems := range map[string][]string{
		home:                           {home},
		"2 storages cannot be changed": {home, data},
	} {
		err := fault.From(unchangeable(problems))
		if len(problems) == 1 {
			problems = nil
		}
		if err.Message != message || !slices.Equal(err.Problems, problems) || err.Hint == "" {
			t.Errorf("%q, %q; want %q", err.Message, err.Problems, message)
		}
	}
}
