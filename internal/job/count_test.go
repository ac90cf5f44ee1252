package job

import (
	"testing"
	"time"
)

// ConfigMaps are counted by the labels that listing and sweeping go by.
func TestCount(t *testing.T) {
	now := time.Unix(1000, 0)
	got := Count([]map[string]string{
		{LabelExpires: "999"},
		{LabelExpires: "1000"},
		{LabelExpires: "2000", LabelPendingMove: "true"},
		{LabelExpires: "1", LabelPendingMove: "true"},
		{LabelExpires: "never"},
	}, now)
	if want := (Counts{Kept: 3, Expired: 2, Pending: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
