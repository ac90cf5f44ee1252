package terminal

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/briandowns/spinner"

	v1 "github.com/berthdev/berth/api/v1"
)

// styles are the colours and signs of one output. Quiet: green is done, yellow
// a warning, red failed, grey only context; everything else stays as it is.
type styles struct {
	green, yellow, red, grey, bold lipgloss.Style
	glyphs
	ascii bool
}

// glyphs are the signs, for terminals with Unicode and for those without.
type glyphs struct {
	done, failed, warning, stopped   string
	bar, dot, ellipsis, arrow, times string
	spinner                          []string
}

func newStyles(c Capabilities) styles {
	st := styles{ascii: !c.Unicode}
	if c.Unicode {
		st.glyphs = glyphs{"✔", "✘", "▲", "■", "│", " · ", "…", "→", "×", spinner.CharSets[14]}
	} else {
		st.glyphs = glyphs{"+", "x", "!", "-", "|", ", ", "...", "->", "x", spinner.CharSets[9]}
	}
	if c.Profile == NoColour {
		return st
	}
	plain := lipgloss.NewStyle()
	st.green, st.yellow, st.red = plain.Foreground(lipgloss.Green), plain.Foreground(lipgloss.Yellow), plain.Foreground(lipgloss.Red)
	st.bold, st.grey = plain.Bold(true), plain.Foreground(lipgloss.BrightBlack)
	if c.Profile == Colour256 {
		// Bright black is close to the background in some well-known themes.
		st.grey = plain.Foreground(lipgloss.ANSIColor(245))
	}
	return st
}

// paint colours a text that is not empty; an empty style leaves no sequences.
func paint(style lipgloss.Style, text string) string {
	if strings.TrimSpace(text) == "" {
		return text
	}
	return style.Render(text)
}

// text makes a foreign text fit to be shown: see clean.
func (st styles) text(s string) string {
	if s = clean(s); st.ascii {
		return toASCII(s)
	}
	return s
}

// cut and cutMiddle shorten a text to a width with this output's ellipsis.
func (st styles) cut(s string, width int) string { return cutEnd(s, width, st.ellipsis) }

func (st styles) cutMiddle(s string, width int) string { return cutMiddle(s, width, st.ellipsis) }

// stage is the colour of a stage.
func (st styles) stage(s v1.Stage) lipgloss.Style {
	switch s {
	case v1.StageRunning:
		return st.green
	case v1.StageFailed:
		return st.red
	case v1.StageTerminating, v1.StageStopped:
		return st.grey
	case v1.StageUnknown:
		return st.yellow
	default:
		return lipgloss.Style{}
	}
}

// container is the colour of a container's state: only trouble stands out.
func (st styles) container(s v1.ContainerState) lipgloss.Style {
	switch s {
	case v1.ContainerFailed:
		return st.red
	case v1.ContainerPulling, v1.ContainerRunning:
		return lipgloss.Style{}
	default:
		return st.grey
	}
}
