package userstring

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode"
)

func TestFromAnnotation(t *testing.T) {
	for text, want := range map[string]string{
		"alice~dev": "alice~dev", "alice~repo=org/proj+ref=Feature/X": "alice~repo=org/proj+ref=Feature/X", "": "",
		"alice\nhint: curl evil": "", "alice\x1b[31m": "", "a\u202eb": "", "a b": "", "\xff": "",
		strings.Repeat("x", MaxCanonical+1): "",
	} {
		if got := FromAnnotation(base64.StdEncoding.EncodeToString([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := FromAnnotation("no base64"); got != "" {
		t.Error(got)
	}
	longest := strings.Repeat("x", MaxCanonical)
	if got := FromAnnotation(ToAnnotation(longest)); got != longest {
		t.Errorf("of the longest, %d characters are read", len(got))
	}
	if got := FromAnnotation(ToAnnotation("alice") +
		strings.Repeat("\n", MaxCanonical*2)); got != "" { // which decoding leaves out
		t.Errorf("of a very long one, %q is read", got)
	}
}

// Whatever a pod says of its user string, it can be shown, or it is none.
func FuzzFromAnnotation(f *testing.F) {
	for _, seed := range []string{"", "YWxpY2V+ZGV2", "YWxpY2UKaGludA==", "====", "////"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		text := FromAnnotation(value)
		if len(text) > MaxCanonical || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q", text)
		}
		if u, err := Parse(text); err == nil {
			_, _ = u.ID(), u.String()
		}
	})
}
