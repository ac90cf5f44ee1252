package wording_test

import (
	"testing"

	"github.com/berthdev/berth/internal/terminal/wording"
)

func TestWord(t *testing.T) {
	for in, want := range map[string]string{"alice~dev": "alice~dev", "carol~repo:a/b": "carol~repo:a/b", "~dev": "'~dev'", "a b": "'a b'", "a'b$c": `'a'\''b$c'`, "": "''"} {
		if got := wording.Word(in); got != want {
			t.Errorf("Word(%q) = %s, want %s", in, got, want)
		}
	}
}
