package fault_test

import (
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

func TestWord(t *testing.T) {
	for in, want := range map[string]string{
		"alice~dev": "alice~dev", "carol~repo:a/b": "carol~repo:a/b",
		"~dev": "'~dev'", "a b": "'a b'", "a'b$c": `'a'\''b$c'`, "": "''",
	} {
		if got := fault.Word(in); got != want {
			t.Errorf("Word(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestCommand(t *testing.T) {
	if got, want := fault.Command("berth", "delete", "id/a b", "-n", "$(x)"),
		"berth delete 'id/a b' -n '$(x)'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
