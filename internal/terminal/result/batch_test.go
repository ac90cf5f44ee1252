package result

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// What was not there is not counted among what was deleted.
func TestDeletionsThatFoundNothing(t *testing.T) {
	s := newDeletionSummary(v1.DeletionSummary{
		Items:  []v1.DeletionItem{{Deletion: &v1.Deletion{NotFound: true}}, {Deletion: &v1.Deletion{Objects: 3}}, {Deletion: &v1.Deletion{NotFound: true}}},
		Totals: v1.Totals{Succeeded: 3, Seconds: 2},
	}, wording.Batch{Members: make([]wording.Title, 3)})
	if head, rest := s.headline(); head != "1 deleted in 2s" || rest != "2 not found" {
		t.Errorf("%q, %q", head, rest)
	}
}
