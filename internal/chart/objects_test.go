package chart

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Documents are parted where Helm's expression parts them.
func TestParts(t *testing.T) {
	separator := regexp.MustCompile(`(?:^|\s*\n)---\s*`)
	pieces := []string{"---", "--", "\n", "\n---", "a", " ", "\t", "\r\n", "\f", "b: c\n", "\u00a0", "---\n"}
	for range 20_000 {
		var text strings.Builder
		for range rand.IntN(9) {
			text.WriteString(pieces[rand.IntN(len(pieces))])
		}
		var want, got []string
		for _, part := range separator.Split(text.String(), -1) {
			if part = strings.TrimSpace(part); part != "" {
				want = append(want, part)
			}
		}
		for before, part := range parts(text.String()) {
			got = append(got, part)
			if lines := strings.Split(text.String(), "\n"); !strings.Contains(strings.Join(lines[before:], "\n"),
				part) {
				t.Errorf("%q: %q is not after %d lines", text.String(), part, before)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", text.String(), got, want)
		}
	}
}
