package detect

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Last words are those of a failure: the last complaint, or the last line that is none of a trace.
func TestLastWordsOf(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "\n \n": "", "one\ntwo\n\n": "two", "error: a\nnote": "error: a",
		"error: a\nfatal: b\nnote":       "fatal: b",
		"note\n\tat a.Error.b(C.java:1)": "note", "\tat x\n\tat y": "", "a\rb": "b",
		strings.Repeat("x", 300): strings.Repeat("x", 300),
	} {
		got := lastWords(&corev1.ContainerStateTerminated{ExitCode: 1, Message: text})
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := lastWords(&corev1.ContainerStateTerminated{Message: text}); got != "" {
			t.Errorf("%q, of a success: %q", text, got)
		}
	}
}
