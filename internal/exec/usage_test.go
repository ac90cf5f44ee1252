package exec

import (
	"maps"
	"strings"
	"testing"
)

// What du prints is read as far as it is what du prints: the image brings it.
func TestUsage(t *testing.T) {
	for text, want := range map[string]map[string]int64{
		"":                          {},
		"4\t/home/dev\n12\t/data\n": {"/home/dev": 4096, "/data": 12288},
		"3\t/with space and\ttab\n": {"/with space and\ttab": 3072},
		"4\t/home/dev":              {"/home/dev": 4096},
		"-4\t/home\n1e3\t/x\n99999999999999999999\t/y\n4 /z\n4\t\n": {},
	} {
		if got := usage(text); !maps.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

func TestBounded(t *testing.T) {
	var b bounded
	for range 3 {
		if n, err := b.Write([]byte(strings.Repeat("x", maxUsage/2+1))); n != maxUsage/2+1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if b.Len() != maxUsage {
		t.Errorf("%d bytes are kept", b.Len())
	}
}
