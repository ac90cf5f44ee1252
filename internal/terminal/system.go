package terminal

import (
	"io"
	"os"
	"runtime"
	"time"

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
	tty := term.IsTerminal(int(f.Fd()))
	env := environment{get: getenv, windows: runtime.GOOS == "windows", plain: tty && !takesEscapes(f)}
	caps := detect(env, tty)
	return Output{Writer: f, Capabilities: caps, Size: func() (int, int) {
		if caps.TTY {
			if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
				return w, h
			}
		}
		return columns(env), 0
	}}
}
