//go:build unix

package terminal

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// asked asks at a real pseudo-terminal, types the answer once the question is
// there, and gives what was shown.
func asked(t *testing.T, ctx context.Context, answer func(typed func(string))) (yes bool, shown string, err error) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	streams := Streams{
		In:  Input{Reader: tty, TTY: true},
		Err: Output{Writer: tty, Capabilities: Capabilities{TTY: true}, Size: func() (int, int) { return 80, 24 }},
	}
	if !streams.CanAsk() {
		t.Fatal("there is a terminal, but no question can be asked")
	}
	question := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(master).ReadString(']')
		answer(func(keys string) { _, _ = master.WriteString(keys) })
		question <- text
	}()
	yes, err = Confirm(ctx, streams, "Delete 3 workspaces of alice?")
	return yes, <-question, err
}

// Only a clear yes is one.
func TestConfirm(t *testing.T) {
	for keys, want := range map[string]bool{
		"y\n": true, "yes\n": true, "YES \n": true,
		"n\n": false, "\n": false, "yeah\n": false, "\x04": false, "y\x7f\n": false,
	} {
		yes, shown, err := asked(t, t.Context(), func(typed func(string)) { typed(keys) })
		if err != nil || yes != want {
			t.Errorf("%q is %v, %v; want %v", keys, yes, err, want)
		}
		if !strings.HasPrefix(shown, "Delete 3 workspaces of alice? [y/N") {
			t.Errorf("asked %q", shown)
		}
	}
}

// Ctrl-C interrupts the question.
func TestConfirmInterrupted(t *testing.T) {
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	yes, _, err := asked(t, ctx, func(func(string)) { cancel(why) })
	if yes || !errors.Is(err, why) {
		t.Errorf("%v, %v", yes, err)
	}
}

// Without a terminal on both sides, no question can be asked.
func TestCanAsk(t *testing.T) {
	for _, test := range []struct{ in, err, want bool }{
		{true, true, true},
		{true, false, false},
		{false, true, false},
		{false, false, false},
	} {
		s := Streams{In: Input{TTY: test.in}, Err: Output{Capabilities: Capabilities{TTY: test.err}}}
		if s.CanAsk() != test.want {
			t.Errorf("%+v: %v", test, s.CanAsk())
		}
	}
}
