package volume

import (
	"fmt"
	"testing"
)

// IDs are single path elements, and not hidden ones.
func TestIsID(t *testing.T) {
	for id, want := range map[string]bool{
		"csi-0123": true, "a": true, "..a": false, "": false, ".": false, "..": false, "a/b": false, "/a": false,
		"a\x00": false, ".hidden": false,
		fmt.Sprintf("%0240d", 1): true, fmt.Sprintf("%0241d", 1): false,
	} {
		if got := IsID(id); got != want {
			t.Errorf("%q: %v, want %v", id, got, want)
		}
	}
}
