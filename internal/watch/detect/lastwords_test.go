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
		// What ends a program stands before the trace that it leaves, and before what its wrapper says.
		"FATAL ERROR: JavaScript heap out of memory\n----- Native stack trace -----\n\n" +
			strings.Repeat(" 1: 0xb8d0a3 node::OOMErrorHandler(char const*) [node]\n", 6) +
			"npm error path /app\nnpm error command failed\n" +
			"npm error signal SIGABRT\n": "FATAL ERROR: JavaScript heap out of memory",
		"Error: listen EADDRINUSE: address already in use :::80\n    at Server.listen (node:net:1)\n" +
			"Emitted 'error' event on Server instance at:\n    at emit (node:net:2) {\n" +
			"  errno: -98\n}\n": "Error: listen EADDRINUSE: address already in use :::80",
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
