//go:build unix

package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/skiptest"
)

// interpreters are shells as they run one line, with what makes most of it a pattern.
var interpreters = map[string][]string{
	"bash": {"bash", "--noprofile", "--norc", "-O", "extglob", "-O", "failglob", "-c"},
	"zsh":  {"zsh", "-f", "-o", "extendedglob", "-c"},
	"fish": {"fish", "--no-config", "-c"},
}

// said is a program that prints its arguments: hundreds of starts of this one take minutes.
const said = "#!/bin/sh\nprintf 'ran'\nprintf ' \"%s\"' \"$@\"\necho\n"

// inShell is what a shell prints that runs a line in an empty directory, in which berth
// prints its arguments.
func inShell(t *testing.T, shell []string, line string) string {
	t.Helper()
	if _, err := exec.LookPath(shell[0]); err != nil {
		skiptest.Lacks(t, "takes %s: %v", shell[0], err)
	}
	home, programs := t.TempDir(), t.TempDir()
	err := os.WriteFile(filepath.Join(programs, "berth"), []byte(said), 0o700) //nolint:gosec // it is run
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], line)...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+home, "PATH="+programs+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
	return strings.TrimSpace(string(out))
}

// Every form of a user string that is documented arrives as it was typed, in each shell and
// without quotes.
func TestUserStringsInShells(t *testing.T) {
	stdout, _ := cmdtest.Must(t, 0, "help", "user-strings")
	var forms []string
	for line := range strings.Lines(stdout) {
		if words := strings.Fields(line); strings.HasPrefix(line, "  alice") {
			forms = append(forms, words[0])
		}
	}
	if len(forms) < 6 {
		t.Fatalf("the page has %q", forms)
	}
	forms = append(forms, "alice~repo=org/proj+ref=main", "alice~pod=web-1+ns=shop", "id/alice-2bd806c",
		"alice@example.com~dev", "alice.smith~dev",
		"müller~dev", "%41lice~dev", "system%3Aserviceaccount%3Aci%3Adeploy", "alice~ref%2Bx", "b64-YWxpY2V-ZGV2",
		"alice~dev:notes.txt", "alice~dev:~/notes", "alice~dev:", "machine/web")
	for name, shell := range interpreters {
		t.Run(name, func(t *testing.T) {
			if got := inShell(t, shell, `printf '%s\n' `+strings.Join(forms, " ")); got != strings.Join(forms, "\n") {
				t.Errorf("%q\nwant %q", got, forms)
			}
		})
	}
}

// command is a command line of the documentation: indented, or in back quotes.
var command = regexp.MustCompile("(?m)(?:^ {2,}|`)(berth [^`\n]*)")

// The commands that the documentation tells people to type mean the same in each shell.
func TestDocumentedCommandsInShells(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands, err := filepath.Glob("../../docs/commands/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, page := range slices.Concat(pages, commands, []string{"../../README.md"}) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			line, _, _ := strings.Cut(m[1], "  ") // what it does is behind it
			if isSynopsis := strings.ContainsAny(line, "[|<>;&$…\\") && !strings.Contains(line, "'"); !isSynopsis &&
				strings.Count(line, "'")%2 == 0 && !strings.ContainsAny(line, "|<>&") {
				lines = append(lines, line)
			}
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) < 100 {
		t.Fatalf("there are %d", len(lines))
	}
	all := strings.Join(lines, "\n")
	want := inShell(t, interpreters["bash"], all)
	if n := strings.Count(want, "\n") + 1; n != len(lines) {
		t.Fatalf("bash has run %d of %d", n, len(lines))
	}
	for name, shell := range interpreters {
		t.Run(name, func(t *testing.T) {
			got := strings.Split(inShell(t, shell, all), "\n")
			for i, line := range strings.Split(want, "\n") {
				if i >= len(got) || got[i] != line {
					t.Fatalf("%s: %s, want %s", lines[i], got[min(i, len(got)-1)], line)
				}
			}
		})
	}
}
