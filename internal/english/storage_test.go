package english

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

func TestStorage(t *testing.T) {
	all := []v1.DeletedStorage{
		{Name: "home", Capacity: "20Gi"},
		{Name: "data"},
		{Name: "cache", Capacity: "1Gi", Kept: true},
	}
	for kept, want := range map[bool]string{
		false: "storage home (20Gi), data deleted",
		true:  "storage cache (1Gi) kept",
	} {
		if got := Storage(all, kept); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Storage(all[:2], true); got != "" {
		t.Errorf("nothing is kept: %q", got)
	}
}
