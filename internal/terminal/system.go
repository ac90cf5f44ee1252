package terminal

import (
	"os"
	"runtime"
	"time"

	"charm.land/lipgloss/v2"
	"golang.org/x/term"
)

// System gives the process's own streams.
func System() Streams {
	env := environment{get: os.Getenv, windows: runtime.GOOS == "windows"}
	return Streams{
		In:  Input{Reader: os.Stdin, TTY: term.IsTerminal(int(os.Stdin.Fd()))},
		Out: file(os.Stdout, env),
		Err: file(os.Stderr, env),
		Now: time.Now,
	}
}

// file gives what is known about an output of the process.
func file(f *os.File, env environment) Output {
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
