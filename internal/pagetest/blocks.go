package pagetest

import (
	"strconv"
	"strings"
	"unicode"
)

// block is a fenced block of a page, or a line that is in none.
type block struct {
	line     int    // of its first line
	anchor   string // of the section that it is in
	language string // prose for a line
	text     string
}

const (
	prose = "prose"
	fence = "```"
)

// blocks takes a page apart.
func blocks(page string) (all []block) {
	anchors, anchor, open := anchorNames{}, "", false
	for i, line := range strings.SplitAfter(page, "\n") {
		language, isFence := strings.CutPrefix(strings.TrimSpace(line), fence)
		switch {
		case isFence && open:
			open = false
		case isFence:
			open = true
			all = append(all, block{line: i + 2, anchor: anchor, language: language})
		case open:
			all[len(all)-1].text += line
		default:
			if title, ok := heading(line); ok {
				anchor = anchors.of(title)
			}
			all = append(all, block{line: i + 1, anchor: anchor, language: prose, text: line})
		}
	}
	return all
}

// heading is the title in a line that is a heading.
func heading(line string) (title string, ok bool) {
	title = strings.TrimLeft(line, "#")
	level := len(line) - len(title)
	return strings.TrimSpace(title), level > 0 && level <= 6 && strings.HasPrefix(title, " ")
}

// anchorNames are the anchors of a page so far, with how often each was wanted.
type anchorNames map[string]int

// of is the anchor that GitHub gives to a title: letters, digits, dashes and
// underscores, spaces as dashes, and a number if it is there already.
func (n anchorNames) of(title string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, title)
	n[name]++
	if times := n[name]; times > 1 {
		return name + "-" + strconv.Itoa(times-1)
	}
	return name
}
