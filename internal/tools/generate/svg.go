package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The measures of a picture, in pixels. A sign's width is said for each run of text, so that columns stay below each
// other in whatever font there is.
const (
	cellWidth  = 8.4
	lineHeight = 19
	fontSize   = 14
	margin     = 16
	titleBar   = 28
)

// look is how a run of text is shown.
type look struct {
	colour string
	bold   bool
}

// The picture is a dark terminal with a frame: it can be read on a dark page as well as on a light one.
const (
	background = "#1b1f24"
	foreground = "#d5dae0"
	frame      = "#57606a"
)

// palette are the colours that the view uses, by their codes in SGR sequences.
func palette() map[string]string {
	return map[string]string{"31": "#ff7b72", "32": "#56d364", "33": "#e3b341", "90": "#9aa4af", "38;5;245": "#9aa4af"}
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// picture draws lines with SGR sequences as a terminal of some columns.
func picture(title string, lines []string, columns int) ([]byte, error) {
	width := float64(columns)*cellWidth + 2*margin
	height := titleBar + len(lines)*lineHeight + margin + margin/2
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 `+
		`%.0f %d" role="img">`+
		"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(title))
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%.0f" height="%d" rx="8" fill="%s" stroke="%s"/>`+"\n", width-1,
		height-1, background, frame)
	for i := range 3 {
		fmt.Fprintf(&b, `<circle cx="%d" cy="15" r="5" fill="%s"/>`+"\n", 18+i*18, frame)
	}
	fmt.Fprintf(&b, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" `+
		`font-size="%d" fill="%s" xml:space="preserve">`+"\n", fontSize, foreground)
	for i, line := range lines {
		if err := drawLine(&b, line, titleBar+(i+1)*lineHeight); err != nil {
			return nil, err
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes(), nil
}

// drawLine draws the runs of one line.
func drawLine(b *bytes.Buffer, line string, y int) error {
	var now look
	column := 0
	for line != "" {
		at := sgr.FindStringSubmatchIndex(line)
		text := line
		if at != nil {
			text = line[:at[0]]
		}
		if strings.ContainsRune(text, '\x1b') {
			return fmt.Errorf("a sequence that no picture can show: %q", text)
		}
		drawRun(b, text, now, column, y)
		column += utf8.RuneCountInString(text)
		if at == nil {
			return nil
		}
		if err := now.change(line[at[2]:at[3]]); err != nil {
			return err
		}
		line = line[at[1]:]
	}
	return nil
}

// words each begin where their column begins, whatever the signs before them measure in the reader's font.
var words = regexp.MustCompile(`\S+`)

// drawRun draws text that looks alike.
func drawRun(b *bytes.Buffer, text string, l look, column, y int) {
	style := ""
	if l.colour != "" {
		style += ` fill="` + l.colour + `"`
	}
	if l.bold {
		style += ` font-weight="bold"`
	}
	for _, at := range words.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		from := column + utf8.RuneCountInString(text[:at[0]])
		fmt.Fprintf(b, `<text x="%s" y="%d" textLength="%s"%s>%s</text>`+"\n",
			pixels(margin+float64(from)*cellWidth), y, pixels(float64(utf8.RuneCountInString(word))*cellWidth), style,
			escaped(word))
	}
}

// change applies the codes of one sequence. One that the view does not use is an error, so that no picture is wrong in
// silence.
func (l *look) change(codes string) error {
	switch {
	case codes == "" || codes == "0":
		*l = look{}
	case codes == "1":
		l.bold = true
	case palette()[codes] != "":
		l.colour = palette()[codes]
	default:
		return fmt.Errorf("no picture knows the colour %q", codes)
	}
	return nil
}

func pixels(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
