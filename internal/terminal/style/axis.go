package style

import (
	"strings"
	"time"
)

// LeastBars is how narrow bars may be that still say something.
const LeastBars = 16

// Axis is a row of columns that a time is laid out on, for bars below each other.
type Axis struct {
	Time    time.Duration
	Columns int
}

// at is the column in which something is, at the end the one behind the last.
func (a Axis) at(d time.Duration) int {
	if a.Time <= 0 {
		return 0
	}
	return int(min(max(float64(d)/float64(a.Time), 0), 1) * float64(a.Columns))
}

// Bar is a bar from one time to another, at least one column wide.
func (a Axis) Bar(from, to time.Duration, sign string) string {
	begin := min(a.at(from), a.Columns-1)
	return strings.Repeat(" ", begin) + strings.Repeat(sign, max(a.at(to)-begin, 1))
}

// Beside goes on with a bar to another time; if that is in the same column, nothing is added.
func (a Axis) Beside(bar string, to time.Duration, sign string) string {
	return bar + strings.Repeat(sign, max(a.at(to)-Width(bar), 0))
}

// Scale are round times, each where it is on the axis.
func (a Axis) Scale() string {
	const room = 10 // of a time and a gap
	step := a.step(room)
	if a.Time <= 0 || step <= 0 {
		return ""
	}
	scale := ""
	for t := time.Duration(0); t >= 0 && a.at(t) < a.Columns; t += step { // which a long time overflows
		text := Brief(t)
		if t == 0 {
			text = "0s"
		}
		if a.at(t)+Width(text) <= a.Columns {
			scale = Pad(scale, a.at(t)) + text
		}
	}
	return scale
}

// step is the least round time that takes so many columns.
func (a Axis) step(columns int) time.Duration {
	const day = 24 * time.Hour
	for unit := 10 * time.Millisecond; unit < time.Minute; unit *= 10 {
		for _, step := range []time.Duration{unit, 2 * unit, 5 * unit} {
			if a.at(step) >= columns && step <= 30*time.Second {
				return step
			}
		}
	}
	for _, n := range []time.Duration{
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 7 * day, 30 * day, 365 * day,
	} {
		if a.at(n) >= columns {
			return n
		}
	}
	return a.Time
}
