package english

import "testing"

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 objects", 1: "1 object", 2: "2 objects"} {
		if got := Plural(n, "object"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "no objects", 1: "1 object", 2: "2 objects"} {
		if got := Count(n, "object"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
