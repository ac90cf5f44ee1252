// Package style is how a text looks on one output: colours and signs, widths and
// how to keep to them, durations, tables. What came from elsewhere is made fit to
// be shown here.
package style

import (
	"strings"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
)

// Profile says which colours an output shows.
type Profile int

// The profiles.
const (
	NoColour Profile = iota
	Colour16
	Colour256
)

// Styles are the colours and signs of one output. Quiet: green is done, yellow
// a warning, red failed, grey only context; everything else stays as it is.
type Styles struct {
	Green, Yellow, Red, Grey, Bold lipgloss.Style
	glyphs
	ascii bool
}

// glyphs are the signs, for terminals with Unicode and for those without.
type glyphs struct {
	Done, Failed, Warning, Stopped   string
	Bar, Dot, Ellipsis, Arrow, Times string
	Heavy, Light, Dotted             string // of bars
	Spinner                          []string
}

// New are those of an output with these colours, and with Unicode or without.
func New(profile Profile, unicode bool) Styles {
	st := Styles{ascii: !unicode}
	if unicode {
		st.glyphs = glyphs{
			"✔", "✘", "▲", "■", "│", " · ", "…", "→", "×", "━", "─", "┄",
			strings.Split("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", ""),
		}
	} else {
		st.glyphs = glyphs{
			"+", "x", "!", "-", "|", ", ", "...", "->", "x", "=", "-", ".",
			strings.Split(`|/-\`, ""),
		}
	}
	if profile == NoColour {
		return st
	}
	plain := lipgloss.NewStyle()
	st.Green, st.Yellow, st.Red = plain.Foreground(lipgloss.Green), plain.Foreground(lipgloss.Yellow),
		plain.Foreground(lipgloss.Red)
	st.Bold, st.Grey = plain.Bold(true), plain.Foreground(lipgloss.BrightBlack)
	if profile == Colour256 {
		// Bright black is close to the background in some well-known themes.
		st.Grey = plain.Foreground(lipgloss.ANSIColor(245))
	}
	return st
}

// Paint colours a text that is not empty; an empty style leaves no sequences.
func Paint(style lipgloss.Style, text string) string {
	if strings.TrimSpace(text) == "" {
		return text
	}
	return style.Render(text)
}

// Text makes a foreign text fit to be shown: see clean.
func (st Styles) Text(s string) string {
	if s = clean(s); st.ascii {
		return toASCII(s)
	}
	return s
}

// Cut shortens a message to a width with this output's ellipsis.
func (st Styles) Cut(s string, width int) string { return cutEnd(s, width, st.Ellipsis) }

// CutStart shortens an image.
func (st Styles) CutStart(s string, width int) string { return cutStart(s, width, st.Ellipsis) }

// CutMiddle shortens a name.
func (st Styles) CutMiddle(s string, width int) string { return cutMiddle(s, width, st.Ellipsis) }

// Stage is the colour of a stage.
func (st Styles) Stage(s v1.Stage) lipgloss.Style {
	switch s {
	case v1.StageRunning:
		return st.Green
	case v1.StageFailed:
		return st.Red
	case v1.StageTerminating, v1.StageStopped:
		return st.Grey
	case v1.StageUnknown:
		return st.Yellow
	default:
		return lipgloss.Style{}
	}
}

// Container is the colour of a container's state: only trouble stands out.
func (st Styles) Container(s v1.ContainerState) lipgloss.Style {
	switch s {
	case v1.ContainerFailed:
		return st.Red
	case v1.ContainerPulling, v1.ContainerRunning:
		return lipgloss.Style{}
	default:
		return st.Grey
	}
}
