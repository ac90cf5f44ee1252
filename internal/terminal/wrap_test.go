package terminal

import "testing"

// What is asked, noted and warned of breaks between words at a terminal, and nowhere else.
func TestOutputWrap(t *testing.T) {
	narrow := Output{Size: func() (int, int) { return 20, 24 }}
	text := "only files in its storages are kept"
	if got := narrow.Wrap(text); got != text {
		t.Errorf("on a pipe %q", got)
	}
	narrow.TTY = true
	if got := narrow.Wrap(text); got != "only files in its\nstorages are kept" {
		t.Errorf("at a terminal %q", got)
	}
}
