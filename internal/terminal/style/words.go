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

// Item is a text of a list, in one line, as a text from elsewhere must not add any. The line
// that it is about follows below it, with the mark in that; empty if it is about none.
func (st Styles) Item(text, excerpt string) []string {
	if excerpt == "" {
		return []string{"- " + st.Text(text)}
	}
	line, mark, _ := strings.Cut(excerpt, "\n")
	return Labelled("- ", []string{st.Text(text), st.Text(line), st.Text(mark)})
}
