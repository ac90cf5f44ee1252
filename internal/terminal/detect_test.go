package terminal

import (
	"runtime"
	"testing"

	"github.com/berthdev/berth/internal/terminal/style"
)

func TestDetect(t *testing.T) {
	type vars = map[string]string
	utf8 := func(v vars) vars { v["LANG"] = "en_US.UTF-8"; return v }
	tests := []struct {
		name    string
		env     vars
		windows bool
		tty     bool
		want    Capabilities
	}{
		{"a terminal", utf8(vars{"TERM": "xterm"}), false, true, Capabilities{true, true, style.Colour16, true}},
		{
			"a rich terminal", utf8(vars{"TERM": "xterm-256color"}), false, true,
			Capabilities{true, true, style.Colour256, true},
		},
		{
			"true colour", utf8(vars{"TERM": "xterm", "COLORTERM": "truecolor"}), false, true,
			Capabilities{true, true, style.Colour256, true},
		},
		{"a pipe", utf8(vars{"TERM": "xterm"}), false, false, Capabilities{false, false, style.NoColour, true}},
		{
			"NO_COLOR", utf8(vars{"TERM": "xterm", "NO_COLOR": "1"}), false, true,
			Capabilities{true, true, style.NoColour, true},
		},
		{
			"NO_COLOR with any value", utf8(vars{"TERM": "xterm", "NO_COLOR": "no"}), false, true,
			Capabilities{true, true, style.NoColour, true},
		},
		{
			"CLICOLOR_FORCE in a pipe", utf8(vars{"TERM": "xterm", "CLICOLOR_FORCE": "1"}), false, false,
			Capabilities{false, false, style.Colour16, true},
		},
		{
			"CLICOLOR_FORCE=0", utf8(vars{"TERM": "xterm", "CLICOLOR_FORCE": "0"}), false, false,
			Capabilities{false, false, style.NoColour, true},
		},
		{
			"NO_COLOR wins", utf8(vars{"TERM": "xterm", "CLICOLOR_FORCE": "1", "NO_COLOR": "1"}), false, true,
			Capabilities{true, true, style.NoColour, true},
		},
		{"dumb", utf8(vars{"TERM": "dumb"}), false, true, Capabilities{true, false, style.NoColour, true}},
		{
			"dumb, but forced", utf8(vars{"TERM": "dumb", "CLICOLOR_FORCE": "1"}), false, true,
			Capabilities{true, false, style.Colour16, true},
		},
		{"no TERM", utf8(vars{}), false, true, Capabilities{true, false, style.NoColour, true}},
		{"no TERM on Windows", vars{}, true, true, Capabilities{true, true, style.Colour16, true}},
		{"Windows Terminal", vars{"WT_SESSION": "x"}, true, true, Capabilities{true, true, style.Colour256, true}},
		{"CI", utf8(vars{"TERM": "xterm", "CI": "true"}), false, true, Capabilities{true, false, style.Colour16, true}},
		{
			"CI=false", utf8(vars{"TERM": "xterm", "CI": "false"}), false, true,
			Capabilities{true, true, style.Colour16, true},
		},
		{"no locale", vars{"TERM": "xterm"}, false, true, Capabilities{true, true, style.Colour16, false}},
		{
			"LC_ALL wins",
			vars{"TERM": "xterm", "LC_ALL": "C", "LANG": "de_DE.utf8"},
			false, true,
			Capabilities{true, true, style.Colour16, false},
		},
		{
			"LC_CTYPE wins over LANG",
			vars{"TERM": "xterm", "LC_CTYPE": "C.UTF-8", "LANG": "C"},
			false, true,
			Capabilities{true, true, style.Colour16, true},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := environment{get: func(k string) string { return tt.env[k] }, windows: tt.windows}
			if got := detect(env, tt.tty); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// A console that takes no escape sequences gets none.
func TestPlainConsole(t *testing.T) {
	for _, variables := range []map[string]string{nil, {"TERM": "xterm-256color", "COLORTERM": "truecolor"}} {
		env := environment{get: func(k string) string { return variables[k] }, windows: true, plain: true}
		if got := detect(env, true); got != (Capabilities{TTY: true, Profile: style.NoColour, Unicode: true}) {
			t.Errorf("%v: %+v", variables, got)
		}
	}
}

func TestColumns(t *testing.T) {
	for value, want := range map[string]int{"": 80, "132": 132, "0": 80, "-3": 80, "wide": 80} {
		if got := columns(environment{get: func(string) string { return value }}); got != want {
			t.Errorf("COLUMNS=%q: %d, want %d", value, got, want)
		}
	}
}

func TestSystem(t *testing.T) {
	t.Setenv("COLUMNS", "97")
	s := System()
	if s.In.Reader == nil || s.Out.Writer == nil || s.Err.Writer == nil || s.Now().IsZero() {
		t.Fatalf("incomplete streams: %+v", s)
	}
	if got := s.Out.Width(); !s.Out.TTY && got != 97 && runtime.GOOS != "windows" {
		t.Errorf("width without a terminal is %d, want that of COLUMNS", got)
	}
}
