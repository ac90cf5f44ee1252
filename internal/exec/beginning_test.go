package exec

import (
	"io"
	"strings"
	"testing"
)

// client-go copies with io.Copy, which asks a buffer to read by itself if it can.
func TestBeginning(t *testing.T) {
	b := Beginning{Max: 10}
	type only struct{ io.Reader } // it cannot write by itself
	n, err := io.Copy(&b, only{strings.NewReader(strings.Repeat("x", 30))})
	if n != 30 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if len(b.String()) != 10 {
		t.Errorf("%d bytes are kept", len(b.String()))
	}
}
