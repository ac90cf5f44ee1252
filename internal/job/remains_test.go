package job

import (
	"testing"
	"time"
)

// What the ConfigMaps' labels say is counted as listing and sweeping go by it.
func TestCount(t *testing.T) {
	now := time.Unix(1000, 0)
	got := Count([]map[string]string{
		{LabelExpires: "999"},
		{LabelExpires: "1000"},
		{LabelExpires: "2000", LabelPendingMove: "true"},
		{LabelExpires: "1", LabelPendingMove: "true"},
		{LabelExpires: "never"},
	}, now)
	if want := (Remains{Kept: 3, Expired: 2, Pending: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
