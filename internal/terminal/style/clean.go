package style

import (
	"fmt"
	"strings"
	uni "unicode"

	"github.com/charmbracelet/x/ansi"
)

// clean makes one harmless line of a text that came from elsewhere: a pod's log
// or an event's message must not be able to move the cursor, change colours,
// or turn the direction of writing.
func clean(s string) string { return strings.TrimRight(cleanCell(s), " ") }

func cleanCell(s string) string {
	s = ansi.Strip(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case uni.IsControl(r) || isDirection(r):
			return -1
		}
		return r
	}, s)
}

// CleanText cleans a text of several lines and leaves its layout.
func CleanText(s string) string {
	rows := strings.Split(s, "\n")
	for i, row := range rows {
		cells := strings.Split(row, "\t")
		for j, cell := range cells {
			cells[j] = cleanCell(cell)
		}
		rows[i] = strings.Join(cells, "\t")
	}
	return strings.Join(rows, "\n")
}

// isDirection is true for the characters that reorder those around them.
func isDirection(r rune) bool { return uni.Is(uni.Bidi_Control, r) }

// Paragraphs splits a text of several lines into clean ones.
func (st Styles) Paragraphs(s string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")), "\n")
	for i, line := range lines {
		lines[i] = st.Text(line)
	}
	return lines
}

// toASCII replaces what a terminal without Unicode would show as rubbish.
func toASCII(s string) string {
	s = asciiSigns().Replace(s)
	return strings.Map(func(r rune) rune {
		if r > uni.MaxASCII {
			return '?'
		}
		return r
	}, s)
}

// asciiSigns are the signs with something like them in ASCII.
func asciiSigns() *strings.Replacer {
	return strings.NewReplacer("…", "...", "→", "->", "←", "<-", "×", "x", "·", "-", "•", "-",
		"“", `"`, "”", `"`, "„", `"`, "‘", "'", "’", "'", "–", "-", "—", "-")
}

// Layout cleans a line as text does and leaves the blanks it begins and ends
// with.
func (st Styles) Layout(line string) string {
	if line = cleanCell(line); st.ascii {
		return toASCII(line)
	}
	return line
}

// EscapeJSON escapes the characters of a JSON document that a terminal obeys or that
// reorder a line, beside those that JSON requires to be escaped. They stand in texts
// only, so that the document means the same.
func EscapeJSON(document string) string {
	if !IsObeyed(document) {
		return document
	}
	var b strings.Builder
	for _, r := range document {
		if isObeyed(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// IsObeyed says whether a document of lines has characters that a terminal obeys, or
// that reorder a line.
func IsObeyed(document string) bool { return strings.ContainsFunc(document, isObeyed) }

func isObeyed(r rune) bool {
	return r != '\n' && uni.IsControl(r) || isDirection(r) || r == '\u2028' || r == '\u2029'
}
