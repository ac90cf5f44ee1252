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
