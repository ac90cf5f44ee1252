package chosen_test

import (
	"slices"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil/chosen"
	"github.com/berthdev/berth/internal/fault"
)

// Of several arguments that are wrong, each is shown with the place, as a single one is.
func TestWrongArgumentsAreShown(t *testing.T) {
	_, err := chosen.Choice{Args: []string{"alice~dev", "a b", "x~~"}, Parallel: 1}.Parse("deleted")
	f := fault.From(err)
	want := []string{
		"\"a b\": user string: invalid character ' ' in the username: use letters, digits, . _ - and @, or write it as %20\n  a b\n   ^ character 2",
		"\"x~~\": user string: '~' must be written as %7E here\n  x~~\n    ^ character 3",
	}
	if f.Message != "2 of 3 arguments are invalid; nothing was deleted" || !slices.Equal(f.Problems, want) {
		t.Errorf("%s: %q, want %q", f.Message, f.Problems, want)
	}
	cmdtest.Offline(t)
	_, stderr := cmdtest.Must(t, 2, "delete", "a b", "x~~", "--yes")
	const shown = `error: 2 of 2 arguments are invalid; nothing was deleted (INVALID_ARGUMENT)
       - "a b": user string: invalid character ' ' in the username: use letters, digits, . _ - and @, or write it as %20
           a b
            ^ character 2
       - "x~~": user string: '~' must be written as %7E here
           x~~
             ^ character 3
hint:  see ` + "`berth help user-strings`\n"
	if stderr != shown {
		t.Errorf("%s\nwant\n%s", stderr, shown)
	}
}
