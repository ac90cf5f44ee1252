package terminal

import (
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/terminal/style"
)

// defaultWidth is assumed when the width is unknown.
const defaultWidth = 80

// Capabilities are what an output can do.
type Capabilities struct {
	TTY bool
	// Live is whether lines can be redrawn in place.
	Live    bool
	Profile style.Profile
	Unicode bool
}

// Styles are the colours and signs that an output can show.
func (c Capabilities) Styles() style.Styles { return style.New(c.Profile, c.Unicode) }

// environment is where detect looks; a value so that it can be tested.
type environment struct {
	get     func(string) string
	windows bool
	plain   bool // the terminal takes no escape sequences, whatever TERM says
}

// detect decides what an output can do.
func detect(env environment, tty bool) Capabilities {
	dumb := env.plain || env.get("TERM") == "dumb" || (env.get("TERM") == "" && !env.windows)
	return Capabilities{
		TTY:     tty,
		Live:    tty && !dumb && !isSet(env.get("CI")),
		Profile: profile(env, tty && !dumb),
		Unicode: unicode(env),
	}
}

// profile follows no-color.org and bixense.com/clicolors: to refuse wins over
// to insist, and to insist wins over what the terminal looks like.
func profile(env environment, able bool) style.Profile {
	if env.get("NO_COLOR") != "" {
		return style.NoColour
	}
	if !able && !isSet(env.get("CLICOLOR_FORCE")) {
		return style.NoColour
	}
	rich := env.get("COLORTERM") != "" || env.get("WT_SESSION") != "" ||
		strings.Contains(env.get("TERM"), "256color") || strings.HasSuffix(env.get("TERM"), "-direct")
	if rich {
		return style.Colour256
	}
	return style.Colour16
}

// unicode looks at the locale in the order in which the C library does.
func unicode(env environment) bool {
	if env.windows {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env.get(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// columns is the width of an output that is not a terminal.
func columns(env environment) int {
	if n, err := strconv.Atoi(env.get("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return defaultWidth
}

// isSet reads the switches of the environment: "0" and "false" mean no.
func isSet(v string) bool { return v != "" && v != "0" && !strings.EqualFold(v, "false") }
