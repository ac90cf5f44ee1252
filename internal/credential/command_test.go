package credential

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

// program puts a shell script in front of the PATH, in place of a program.
func program(t *testing.T, name, script string) (file string) {
	t.Helper()
	skiptest.OnWindows(t, "it does not run scripts of a shell")
	file = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(file)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return file
}

// gitConfig is all the configuration that git reads.
func gitConfig(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", file)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	t.Setenv("HOME", t.TempDir())
}

// A credential is looked up once, as a program takes its time, and gh does not
// prompt.
func TestGitHubCLI(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	program(t, "gh", `echo "$@ prompts=$GH_PROMPT_DISABLED" >>`+asked+`; echo `+token)
	source := &Source{Command: GitHubCLI("git.example.com")}
	for range 2 {
		c, err := source.Get(t.Context())
		if err != nil || c.Token.Reveal() != token || c.From != "`gh auth token`" {
			t.Fatalf("%+v %v", c, err)
		}
	}
	question, err := os.ReadFile(asked)
	if want := "auth token --hostname git.example.com prompts=1\n"; err != nil || string(question) != want {
		t.Errorf("gh was asked %q, want %q: %v", question, want, err)
	}
}

func TestGitHubCLIFails(t *testing.T) {
	for name, test := range map[string]struct{ script, message string }{
		"not logged in": {
			"echo 'no oauth token found: " + token + "' >&2; exit 1",
			"`gh auth token --hostname git.example.com` failed: exit status 1",
		},
		"not installed": {"", "executable file not found"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.script == "" {
				t.Setenv("PATH", t.TempDir())
			} else {
				program(t, "gh", test.script)
			}
			_, err := GitHubCLI("git.example.com")(t.Context())
			if fault.CodeOf(err) != fault.Unauthenticated || fault.ReasonOf(err) != ReasonRejected ||
				!strings.Contains(err.Error(), test.message) {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
			if strings.Contains(fmt.Sprintf("%+v", *fault.From(err)), token) {
				t.Errorf("%+v", *fault.From(err))
			}
		})
	}
}

// Git's own helpers are asked by git itself, as git asks them.
func TestGitHelper(t *testing.T) {
	remote, err := url.Parse("https://git.example.com:8443/org/proj.git")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		config, username string
		question         []string
	}{
		"by the host": {"", "", []string{"protocol=https", "host=git.example.com:8443"}},
		"of a user":   {"", "alice", []string{"protocol=https", "host=git.example.com:8443", "username=alice"}},
		"by the path as well": {
			"\tuseHttpPath = true\n", "",
			[]string{"protocol=https", "host=git.example.com:8443", "path=org/proj.git"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			question := filepath.Join(t.TempDir(), "question")
			helper := program(t, "helper",
				`[ "$1" = get ] || exit 0; cat >`+question+`; echo username=alice; echo password=`+
					token)
			gitConfig(t, "[credential]\n\thelper = "+helper+"\n"+test.config)
			c, err := GitHelper(remote, test.username)(t.Context())
			if err != nil || c.Username != "alice" || c.Token.Reveal() != token {
				t.Fatalf("%+v %v", c, err)
			}
			asked, err := os.ReadFile(question)
			if err != nil || strings.TrimSpace(string(asked)) != strings.Join(test.question, "\n") {
				t.Errorf("the helper was asked %q: %v", asked, err)
			}
		})
	}
}

// A helper without a login is an error: git does not prompt, by any of the ways
// that it has.
func TestGitHelperFails(t *testing.T) {
	remote := &url.URL{Scheme: "https", Host: "git.example.com"}
	for name, script := range map[string]string{"it fails": "echo " + token + " >&2; exit 1", "no login": "exit 0"} {
		t.Run(name, func(t *testing.T) {
			helper, prompted := program(t, "helper", script), filepath.Join(t.TempDir(), "prompted")
			ask := program(t, "ask", "touch "+prompted+"; echo alice")
			gitConfig(t, "[credential]\n\thelper = "+helper+"\n[core]\n\taskPass = "+ask+"\n")
			t.Setenv("GIT_ASKPASS", ask)
			t.Setenv("SSH_ASKPASS", ask)
			_, err := GitHelper(remote, "")(t.Context())
			if fault.CodeOf(err) != fault.Unauthenticated ||
				!strings.Contains(err.Error(), "`git credential fill` failed for git.example.com: exit status") ||
				strings.Contains(fmt.Sprintf("%+v", *fault.From(err)), token) {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
			if _, err := os.Stat(prompted); err == nil {
				t.Error("the user was prompted")
			}
		})
	}
}

// Git does not prompt, even on a terminal.
func TestGitHelperDoesNotPromptOnTheTerminal(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	program(t, "git", `echo "$* $GIT_TERMINAL_PROMPT $GCM_INTERACTIVE" >`+log+`; exit 128`)
	if _, err := GitHelper(&url.URL{Scheme: "https", Host: "git.example.com"},
		"")(t.Context()); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("%s: %v", fault.CodeOf(err), err)
	}
	if text, err := os.ReadFile(log); err != nil || string(text) != "credential fill 0 never\n" {
		t.Errorf("git was run with %q: %v", text, err)
	}
}

// A program that hangs takes as long as the context allows, though what it has
// started outlives it.
func TestCommandEndsWithItsContext(t *testing.T) {
	helper := program(t, "helper", "sleep 300")
	program(t, "gh", "sleep 300")
	gitConfig(t, "[credential]\n\thelper = "+helper+"\n")
	for name, command := range map[string]func(context.Context) (Credential, error){
		"gh": GitHubCLI("git.example.com"), "git": GitHelper(&url.URL{Scheme: "https", Host: "git.example.com"}, ""),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		began := time.Now()
		if _, err := command(ctx); err == nil {
			t.Errorf("%s returned a credential", name)
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("%s took %s", name, took)
		}
		cancel()
	}
}

// A program of the configuration prints a token, and nothing else gets out.
func TestProgram(t *testing.T) {
	for name, test := range map[string]struct{ script, token, message string }{
		"a token":            {"echo " + token, token, ""},
		"with its arguments": {`[ "$1 $2" = "a b" ] && echo ` + token, token, ""},
		"nothing":            {"exit 0", "", "printed no token"},
		"two lines":          {"echo " + token + "; echo more", "", "printed no token"},
		"it fails":           {"echo " + token + " >&2; exit 3", "", "failed: exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			path := program(t, "get-token", test.script)
			c, err := Program([]string{path, "a", "b"})(t.Context())
			if c.Token.Reveal() != test.token || (err != nil) != (test.message != "") {
				t.Errorf("%q, %v", c.Token.Reveal(), err)
			}
			if err != nil && (fault.CodeOf(err) != fault.Unauthenticated ||
				!strings.Contains(err.Error(), test.message) ||
				strings.Contains(err.Error(), token)) {
				t.Errorf("%v (%s)", err, fault.CodeOf(err))
			}
		})
	}
}
