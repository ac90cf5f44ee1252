//go:build unix

package commands_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/berthdev/berth/internal/commands"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/terminal"
)

// TestMain lets the program of these tests be berth for a shell that finds it under that
// name: it completes as berth does, and of anything else it says that it was asked to run it.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "berth" {
		os.Exit(m.Run())
	}
	if args := os.Args[1:]; len(args) == 0 || args[0] != "__complete" && args[0] != "__completeNoDesc" {
		fmt.Printf("ran %q\n", args)
		os.Exit(0)
	}
	os.Exit(commands.Main(os.Args[1:], terminal.System(), os.Exit))
}

// shell is a shell that completes: how it is started without anybody's own settings, from a
// file that loads the script of completions/.
type shell struct {
	name, script string
	options      string // that people set; empty for none
	setup        string // of which %s is the script
	start        func(setup string) []string
	environment  func(setup string) []string
	listing      string // is typed to see what can be chosen from
}

// prompt says that a shell is ready for a line.
const prompt = "what now> "

var shells = []shell{
	{
		name: "bash", script: "berth.bash",
		setup:   "bind 'set show-all-if-ambiguous on'\nPS1='" + prompt + "'\n. " + bashCompletion + "\n. %s\n",
		start:   func(setup string) []string { return []string{"bash", "--noprofile", "--rcfile", setup, "-i"} },
		listing: "berth provision --on-failure \t",
	},
	{
		name: "zsh", script: "berth.zsh",
		setup:       "PS1='" + prompt + "'\nautoload -U compinit && compinit -u -D\n. %s\n",
		start:       func(string) []string { return []string{"zsh", "-d", "-i"} }, // -d: without those of the machine
		environment: func(setup string) []string { return []string{"ZDOTDIR=" + filepath.Dir(setup)} },
		listing:     "berth provision --on-failure \t",
	},
	{
		name: "zsh", script: "berth.zsh", options: "EXTENDED_GLOB", // with which ~ is a pattern
		setup:       "PS1='" + prompt + "'\nsetopt EXTENDED_GLOB\nautoload -U compinit && compinit -u -D\n. %s\n",
		start:       func(string) []string { return []string{"zsh", "-d", "-i"} },
		environment: func(setup string) []string { return []string{"ZDOTDIR=" + filepath.Dir(setup)} },
		listing:     "berth provision --on-failure \t",
	},
	{
		name: "fish", script: "berth.fish",
		setup: "function fish_prompt; echo -n '" + prompt + "'; end\nsource %s\n",
		start: func(setup string) []string {
			return []string{"fish", "--no-config", "--private", "--init-command", "source " + setup, "-i"}
		},
		// what Tab shows, which a dumb terminal cannot
		listing: "complete --do-complete 'berth provision --on-failure '\r",
	},
}

// bashCompletion is where the package of that name has what the script for bash builds on.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// In each shell, Tab completes what berth offers, with the script that is shipped. In short mode, one shell: it starts
// this program dozens of times, which takes a minute with the race detector.
func TestShellsComplete(t *testing.T) {
	for i, s := range shells {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(s.name+s.options, func(t *testing.T) {
			cmdtest.Offline(t)
			server := kubetest.Start(t, nil)
			server.Put("/apis/apps/v1/namespaces/team/deployments/web", &kubetest.Object{Object: map[string]any{}})
			cmdtest.Cluster(t, server.URL)
			u := s.sit(t)
			for _, c := range []struct{ typed, want string }{
				{"berth prov\t", `ran ["provision"]`},
				{"berth blueprint sh\t", `ran ["blueprint" "show"]`},
				{"berth provision --on-failure k\t", `ran ["provision" "--on-failure" "keep"]`},
				{"berth status --all-n\t", `ran ["status" "--all-namespaces"]`},
				{
					"berth provision alice --ignore-reason Crash\t",
					`ran ["provision" "alice" "--ignore-reason" "CrashLoop"]`,
				},
				{
					"berth provision alice --ignore-reason=Crash\t",
					`ran ["provision" "alice" "--ignore-reason=CrashLoop"]`,
				},
				{"berth status --context \t", `ran ["status" "--context" "x"]`},
				{"berth status -n te\t", `ran ["status" "-n" "team"]`},
				{"berth diagnose deploym\tw\t", `ran ["diagnose" "deployment/web"]`},
				{"berth provision alice~de\t", `ran ["provision" "alice~default"]`},
				{
					"berth provision 'alice~default' --on-failure k\t",
					`ran ["provision" "alice~default" "--on-failure" "keep"]`,
				},
			} {
				u.types(c.typed + "\r")
				u.sees(c.want)
				u.sees(prompt)
			}
			u.types(s.listing)
			u.sees("delete")
			u.sees("keep")
		})
	}
}
