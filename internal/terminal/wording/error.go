package wording

import (
	"fmt"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// ErrorLines are an error in one glance: what, why, what now. They are not
// wrapped, so that they can be searched for.
func ErrorLines(e v1.Error, st style.Styles) []string {
	message := st.Paragraphs(e.Message)
	if len(message) == 0 {
		message = []string{"unknown error"}
	}
	last := len(message) - 1
	message[last] = fmt.Sprintf("%s (%s)", message[last], e.Code)
	lines := style.Labelled(style.Paint(st.Red, "error:")+" ", message)
	for _, p := range e.Problems {
		lines = append(lines, "       - "+st.Text(p))
	}
	return append(lines, style.Labelled(style.Paint(st.Grey, "hint:")+"  ", st.Paragraphs(e.Hint))...)
}
