package machine

import (
	"io"
	"strings"
	"testing"
)

// Whatever is typed goes through, up to the key that leaves.
func TestLeavable(t *testing.T) {
	for typed, want := range map[string]string{
		"":                   "",
		"\x03\x04\x1a\x1b[A": "\x03\x04\x1a\x1b[A",
		"ls\n\x1dmore":       "ls\n",
		"\x1d":               "",
	} {
		left := 0
		got, err := io.ReadAll(Leavable(strings.NewReader(typed), func() { left++ }))
		if err != nil || string(got) != want || (left == 1) != strings.Contains(typed, "\x1d") {
			t.Errorf("%q: %q, left %d times, %v", typed, got, left, err)
		}
	}
}
