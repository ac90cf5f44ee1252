package printer

import (
	"fmt"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// PrintWarning prints a remark that is no failure, on stderr.
func PrintWarning(s terminal.Streams, text string) {
	st := s.Err.Styles()
	fmt.Fprintln(s.Err, style.Paint(st.Yellow, "warning:")+" "+st.Text(text))
}

// PrintNote prints a remark on stderr, beside whatever stdout carries.
func PrintNote(s terminal.Streams, text string) {
	fmt.Fprintln(s.Err, s.Err.Styles().Text(text))
}
