package ssh

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/sshconfig"
)

// editor is a program that works over SSH.
type editor struct {
	name     string
	title    string
	programs []string // any of which starts it
	openers  []string // programs of the desktop that start it by an address, if it is the one that is wanted
	// arguments are those with which it opens a path on a host; an empty one is left to it.
	arguments func(host, path string) []string
}

// editors are those that are known, the likeliest first.
func editors() []editor {
	code := func(name, title string, programs ...string) editor {
		return editor{name: name, title: title, programs: programs, arguments: func(host, path string) []string {
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
		{name: "zed", title: "Zed", programs: []string{"zeditor", "zed"}, arguments: func(host, at string) []string {
			return []string{"ssh://" + host + path.Join("/", at)}
		}},
		{
			name: "idea", title: "JetBrains Gateway", programs: []string{"gateway", "jetbrains-gateway"},
			openers: []string{"xdg-open", "open"}, arguments: gatewayAddress,
		},
	}
}

// gatewayAddress fills in the form of JetBrains Gateway, which looks the host up in the configuration of ssh. It
// downloads the IDE into the workspace when the user goes on from there.
func gatewayAddress(host, at string) []string {
	address := "jetbrains-gateway://connect#type=ssh&deploy=true&host=" + url.PathEscape(host) + "&port=22&user=" +
		sshconfig.User
	if at != "" {
		address += "&projectPath=" + url.PathEscape(at)
	}
	return []string{address}
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
		programs := e.programs
		if wanted != "" {
			programs = slices.Concat(programs, e.openers)
		}
		for _, name := range programs {
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
	return e, "", fault.New(fault.Failed, "no editor that works over SSH is installed here: looked for %s",
		strings.Join(tried, ", ")).
		WithHint("install one, with its command on PATH; in VS Code: Shell Command: Install 'code' command in PATH")
}
