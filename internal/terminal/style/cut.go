package style

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width is how many columns a text takes.
func Width(s string) int { return ansi.StringWidth(s) }

// cutEnd shortens a message to a width: its beginning says the most.
func cutEnd(s string, most int, ellipsis string) string {
	if Width(s) <= most {
		return s
	}
	if most <= Width(ellipsis) {
		return ansi.Truncate(s, max(most, 0), "")
	}
	return strings.TrimRight(ansi.Truncate(s, most-Width(ellipsis), ""), " ") + ellipsis
}

// cutMiddle shortens a name to a width: its beginning says whose it is, its end
// tells it from its siblings.
func cutMiddle(s string, most int, ellipsis string) string {
	total := Width(s)
	if total <= most {
		return s
	}
	room := most - Width(ellipsis)
	if room < 2 {
		return cutEnd(s, most, ellipsis)
	}
	return ansi.Truncate(s, (room+1)/2, "") + ellipsis + end(s, room/2)
}

// cutStart shortens an image to a width: its end, the tag, says which of many it is.
func cutStart(s string, most int, ellipsis string) string {
	if Width(s) <= most {
		return s
	}
	room := most - Width(ellipsis)
	if room < 2 {
		return end(s, max(most, 0))
	}
	return ellipsis + end(s, room)
}

// end is what ends a text within a width.
func end(s string, most int) (tail string) {
	// TruncateLeft can leave one column too many when it meets a wide sign.
	total := Width(s)
	for n := max(total-most, 0); n <= total; n++ {
		if tail = ansi.TruncateLeft(s, n, ""); Width(tail) <= most {
			break
		}
	}
	return tail
}

// Pad fills a text with blanks to a width.
func Pad(s string, to int) string {
	return s + strings.Repeat(" ", max(to-Width(s), 0))
}

// Wrap breaks a text between words into lines of at most a width. A command between backquotes is one
// word if it fits a line, so that it can be copied. A word that is longer begins a line of its own and
// is broken where that ends: the terminal would break it too, but go on at the edge.
func Wrap(s string, most int) []string { return wrap(s, most, false) }

// WrapWhole is Wrap for a text whose commands are to be copied: one that is wider than a line has a line of its own.
func WrapWhole(s string, most int) []string { return wrap(s, most, true) }

func wrap(s string, most int, whole bool) []string {
	if Width(s) <= most {
		return []string{s} // as it is: the blanks in it may be a layout
	}
	body := strings.TrimLeft(s, " ")
	line := s[:len(s)-len(body)]
	var lines []string
	empty := true
	for _, word := range words(body, most, whole) {
		if !empty && Width(line)+1+Width(word) > most {
			lines, line, empty = append(lines, line), "", true
		}
		if !empty {
			line += " "
		}
		if strings.Contains(word, " ") { // a command
			line, empty = line+word, false
			continue
		}
		parts := strings.Split(ansi.Hardwrap(word, max(most-Width(line), 1), true), "\n")
		if empty && len(parts) > 1 {
			lines = append(append(lines, line+parts[0]), parts[1:len(parts)-1]...)
			line, word = "", parts[len(parts)-1]
		}
		line, empty = line+word, false
	}
	return append(lines, line)
}

// words are those of a text, each command between backquotes as one unless it is wider than most; if whole, also then.
func words(text string, most int, whole bool) (all []string) {
	single := strings.Fields(text)
	for len(single) > 0 {
		n := 1
		if opens(single[0]) {
			if end := slices.IndexFunc(single[1:], opens); end >= 0 &&
				(whole || Width(strings.Join(single[:end+2], " ")) <= most) {
				n = end + 2
			}
		}
		all, single = append(all, strings.Join(single[:n], " ")), single[n:]
	}
	return all
}

// opens is true for a word that begins a command between backquotes, or ends one.
func opens(word string) bool { return strings.Count(word, "`")%2 == 1 }

// Fit is the last guard: whatever the pieces did, no line wraps.
func Fit(lines []string, width int) []string {
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, max(width-1, 0), "")
	}
	return lines
}
