package ssh

import (
	"path"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// editor is a program that works over SSH.
type editor struct {
	name     string
	title    string
	programs []string // any of which starts it
	// arguments are those with which it opens a path on a host; an empty one is left to it.
	arguments func(host, path string) []string
}

// editors are those that are known, the likeliest first.
func editors() []editor {
	code := func(name, title string, programs ...string) editor {
		return editor{name, title, programs, func(host, path string) []string {
			arguments := []string{"--remote", "ssh-remote+" + host}
			if path != "" {
				arguments = append(arguments, path)
			}
			return arguments
		}}
	}
	return []editor{
		code("code", "VS Code", "code", "code-insiders"),
		code("cursor", "Cursor", "cursor"),
		code("windsurf", "Windsurf", "windsurf"),
		code("vscodium", "VSCodium", "codium", "vscodium"),
		{"zed", "Zed", []string{"zeditor", "zed"}, func(host, at string) []string {
			return []string{"ssh://" + host + path.Join("/", at)}
		}},
	}
}

// editorNames are the values of --editor.
func editorNames() (names []string) {
	for _, e := range editors() {
		names = append(names, e.name)
	}
	return names
}

// choose finds the editor that is wanted, or the first that is installed, and its program.
func choose(wanted string, look func(string) (string, error)) (e editor, program string, err error) {
	var tried []string
	for _, e := range editors() {
		if wanted != "" && e.name != wanted {
			continue
		}
		for _, name := range e.programs {
			if program, err := look(name); err == nil {
				return e, program, nil
			}
			tried = append(tried, name)
		}
	}
	if len(tried) == 0 {
		return e, "", fault.New(fault.InvalidArgument, "there is no editor %q", wanted).
			WithHint("name one of: %s", strings.Join(editorNames(), ", "))
	}
	return e, "", fault.New(fault.Failed, "no editor that works over SSH is installed here: looked for %s", strings.Join(tried, ", ")).
		WithHint("install one, with its command on PATH; in VS Code: Shell Command: Install 'code' command in PATH")
}
