package style

import (
	"strings"
	"time"
)

// Page is what lines are laid out on.
type Page struct {
	Styles
	// Width is how many columns a line has; practically unlimited without a terminal.
	Width int
	// Room is how wide a table may be; 0 for as wide as it is.
	Room int
	// Wide tables have more columns.
	Wide bool
	// Now is the time that ages are counted from.
	Now time.Time
	// Flags are repeated in the commands that are proposed.
	Flags []string
}

// headlineWidth is where the second half of a headline begins, if there is room.
const headlineWidth = 24

// Headline puts two halves on one line, or below each other if they do not fit.
func (p Page) Headline(head, rest string) []string {
	line := "  " + head
	if rest == "" {
		return []string{line}
	}
	if joined := Pad(line, 2+headlineWidth) + "  " + rest; Width(joined) < p.Width {
		return []string{joined}
	}
	return append([]string{line}, p.Indent(rest)...)
}

// indent is how far texts and tables below a headline are moved to the right.
const indent = 4

// Indent wraps texts into the room beside the indentation.
func (p Page) Indent(texts ...string) []string {
	var lines []string
	for _, t := range texts {
		lines = append(lines, Indented(p.Wrap(t, p.Width-1-indent))...)
	}
	return lines
}

// Advice is Indent for texts whose commands are to be copied.
func (p Page) Advice(texts ...string) []string {
	var lines []string
	for _, t := range texts {
		lines = append(lines, Indented(WrapWhole(t, max(p.Width-1-indent, leastText)))...)
	}
	return lines
}

// leastText is how narrow a text gets beside what is before it.
const leastText = 20

// Wrap breaks a text between words into lines of at most a width.
func (p Page) Wrap(text string, most int) []string { return Wrap(text, max(most, leastText)) }

// Hanging puts a label before a text, and the other lines of the text below its first one. Lines
// are broken between words, where the page has an end.
func (p Page) Hanging(label string, texts []string) []string { return p.hanging(label, texts, Wrap) }

// HangingAdvice is Hanging for texts whose commands are to be copied.
func (p Page) HangingAdvice(label string, texts []string) []string {
	return p.hanging(label, texts, WrapWhole)
}

func (p Page) hanging(label string, texts []string, wrap func(string, int) []string) []string {
	var lines []string
	for _, t := range texts {
		lines = append(lines, wrap(t, max(p.Width-1-Width(label), leastText))...)
	}
	return Labelled(label, lines)
}

// Table is a page for a table: one that is to be wide is as wide as it is, as kubectl's is.
func (p Page) Table() Page {
	if p.Wide {
		p.Room = 0
	}
	return p
}

// Indented moves lines that are as wide as they may be.
func Indented(lines []string) []string {
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.Repeat(" ", indent)+line, " ")
	}
	return lines
}

// Narrower is a page for what is to be Indented.
func (p Page) Narrower() Page {
	p.Width = max(p.Width-indent, 1)
	if p.Room > 0 {
		p.Room = max(p.Room-indent, 1)
	}
	return p
}

// Labels are lines of a name and a value, broken between words; those without a value are left out.
func (p Page) Labels(rows [][2]string) (lines []string) {
	for _, r := range rows {
		label := Paint(p.Grey, Pad(r[0]+":", 14))
		switch {
		case r[1] == "":
		case !strings.Contains(r[1], " "): // a name is copied as a whole
			lines = append(lines, label+r[1])
		default:
			lines = append(lines, p.Hanging(label, []string{r[1]})...)
		}
	}
	return lines
}

// Paragraph is a blank line and a block of others; nothing without the others.
func Paragraph(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return append([]string{""}, lines...)
}

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
