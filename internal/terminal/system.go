package terminal

import (
	"io"
	"os"
	"runtime"
	"time"

	"charm.land/lipgloss/v2"
	"golang.org/x/term"
)

// System gives the process's own streams.
func System() Streams {
	return Streams{
		In:  Input{Reader: os.Stdin, TTY: term.IsTerminal(int(os.Stdin.Fd()))},
		Out: OutputOf(os.Stdout, os.Getenv),
		Err: OutputOf(os.Stderr, os.Getenv),
		Now: time.Now,

		Waits: newWaits(),

		atExit: &exitHooks{},
	}
}

// ForPrograms is where programs that this one starts say what is for the user: standard error. At a terminal it is the
// terminal itself, so that they see that it is one.
func (s Streams) ForPrograms() io.Writer {
	if s.Err.TTY {
		return os.Stderr
	}
	return s.Err
}

// OutputOf gives what is known about a file that is written to; the environment
// says the rest.
func OutputOf(f *os.File, getenv func(string) string) Output {
	env := environment{get: getenv, windows: runtime.GOOS == "windows"}
	caps := detect(env, term.IsTerminal(int(f.Fd())))
	if caps.TTY {
		lipgloss.EnableLegacyWindowsANSI(f) // does nothing elsewhere
	}
	return Output{Writer: f, Capabilities: caps, Size: func() (int, int) {
		if caps.TTY {
			if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
				return w, h
			}
		}
		return columns(env), 0
	}}
}
