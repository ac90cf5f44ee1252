package style

import (
	"strings"
)

// OrDash is what a table shows where there is nothing to say.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// JoinLines ends every line with a newline.
func JoinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// Labelled puts a label before the first line and blanks before the others.
func Labelled(label string, texts []string) []string {
	lines := make([]string, 0, len(texts))
	for _, t := range texts {
		lines = append(lines, label+t)
		label = strings.Repeat(" ", Width(label))
	}
	return lines
}

// Item is a text of a list. The line that it is about follows below it, with the mark
// in that; else it is one line, as a text from elsewhere must not add any.
func (st Styles) Item(text string) []string {
	lines := strings.Split(text, "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "  ") || !strings.HasPrefix(strings.TrimLeft(lines[2], " "), "^") {
		return []string{"- " + st.Text(text)}
	}
	return Labelled("- ", []string{st.Text(lines[0]), st.Text(lines[1]), st.Text(lines[2])})
}
