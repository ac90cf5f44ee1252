package terminal

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/terminal/style"
)

// CanAsk says whether there is a user to answer a question.
func (s Streams) CanAsk() bool { return s.In.TTY && s.Err.TTY }

// Confirm asks a question that is answered by yes or no, on stderr. Anything but
// y or yes is a no, and so is the end of the input. It gives up with the context,
// whose cause it returns.
func Confirm(ctx context.Context, s Streams, question string) (bool, error) {
	st := s.Err.Styles()
	if _, err := fmt.Fprint(s.Err, s.Err.Wrap(style.Paint(st.Bold, st.Text(question))+" [y/N]"), " "); err != nil {
		return false, err
	}
	// A read from a terminal cannot be interrupted: it is left behind, and ends
	// with the process.
	answer := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(s.In).ReadString('\n')
		if err != nil {
			line = "" // half a line is not an answer
		}
		answer <- line
	}()
	select {
	case <-ctx.Done():
		_, _ = fmt.Fprintln(s.Err)
		return false, context.Cause(ctx)
	case line := <-answer:
		if line == "" {
			_, _ = fmt.Fprintln(s.Err)
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		}
		return false, nil
	}
}
