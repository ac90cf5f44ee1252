package v1

import "testing"

func TestStorageText(t *testing.T) {
	all := []DeletedStorage{{Name: "home", Capacity: "20Gi"}, {Name: "data"}, {Name: "cache", Capacity: "1Gi", Kept: true}}
	for kept, want := range map[bool]string{false: "storage home (20Gi), data deleted", true: "storage cache (1Gi) kept"} {
		if got := StorageText(all, kept); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := StorageText(all[:2], true); got != "" {
		t.Errorf("nothing is kept: %q", got)
	}
}
