package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// The contract between codes and exit statuses.
func TestExit(t *testing.T) {
	for code, want := range map[Code]int{
		"": 0, Internal: 1, InvalidArgument: 2, Failed: 3, PermissionDenied: 4, Unauthenticated: 4, DeadlineExceeded: 5,
		AlreadyExists: 6, Conflict: 6, NotFound: 7, Unavailable: 8, Interrupted: 130, Terminated: 143, "WHO_KNOWS": 1,
	} {
		if got := code.Exit(); got != want {
			t.Errorf("%q exits with %d, want %d", code, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	err := New(NotFound, "file %s: %w", "x", fs.ErrNotExist).WithHint("look in %s", "y")
	if err.Error() != "file x: file does not exist" || err.Hint != "look in y" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%+v", err)
	}
	wrapped := fmt.Errorf("outside: %w", err)
	if From(wrapped) != err || CodeOf(wrapped) != NotFound {
		t.Errorf("%+v is not found in what wraps it", err)
	}
	if got := From(fs.ErrNotExist); got.Code != Internal || !errors.Is(got, fs.ErrNotExist) {
		t.Errorf("an unexpected error is %+v", got)
	}
	if CodeOf(nil) != "" {
		t.Error("no error has a code")
	}
}
