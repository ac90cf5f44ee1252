package identity

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

// standIn puts a shell script in front of the PATH, in the place of a program.
func standIn(t *testing.T, name, script string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(file)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return file
}

// gitConfig is all that git is configured with.
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

// timeout is short for what never answers, and else no matter.
func timeout(name string) string {
	if name == "it hangs" {
		return "500ms"
	}
	return "1m"
}

// built is the chain of one provider, as it is configured.
func built(t *testing.T, settings ProviderSettings) Chain {
	t.Helper()
	chain, err := Build(Settings{Providers: []ProviderSettings{settings}}, Surroundings{Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

func TestTokenOfGitHubsCommandLine(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	standIn(t, "gh", `echo "$@ prompts=$GH_PROMPT_DISABLED" >>`+asked+`; echo `+token)
	api, authorized := hub(t), 0
	enterprise := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+token {
			authorized++
		}
		http.StripPrefix("/api/v3", api.Config.Handler).ServeHTTP(w, r)
	}))
	t.Cleanup(enterprise.Close)
	chain := built(t, ProviderSettings{Kind: KindGitHub, URL: enterprise.URL, CLI: true})
	if user, err := chain.Resolve(t.Context(), "alice"); err != nil || user.Fullname != "Alice Liddell" {
		t.Fatalf("%+v %v", user, err)
	}
	if caller, err := chain.Caller(t.Context()); err != nil || caller != "alice" {
		t.Errorf("the caller is %q: %v", caller, err)
	}
	// It takes its time, so it is asked once; of the very host, and without questions.
	question, err := os.ReadFile(asked)
	if want := "auth token --hostname 127.0.0.1 prompts=1\n"; err != nil || string(question) != want || authorized != 2 {
		t.Errorf("gh was asked %q, want %q; %d requests had its token: %v", question, want, authorized, err)
	}
}

// A command line that gives no token ends it: without one, a private repository
// would seem not to be there.
func TestGitHubsCommandLineFails(t *testing.T) {
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	for name, test := range map[string]struct {
		script  string
		code    fault.Code
		message string
	}{
		"not logged in": {"echo 'no oauth token found: " + token + "' >&2; exit 1", fault.Unauthenticated, "`gh auth token --hostname 127.0.0.1` gives no token: it ended with status 1"},
		"it hangs":      {"sleep 30", fault.Unavailable, "did not answer within 500ms"},
	} {
		t.Run(name, func(t *testing.T) {
			standIn(t, "gh", test.script)
			began := time.Now()
			_, err := built(t, ProviderSettings{Kind: KindGitHub, URL: nothing.URL, CLI: true, Timeout: timeout(name)}).Resolve(t.Context(), "alice")
			if fault.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.message) || strings.Contains(fmt.Sprintf("%+v", *fault.From(err)), token) {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
	t.Run("it is not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := built(t, ProviderSettings{Kind: KindGitHub, URL: nothing.URL, CLI: true}).Resolve(t.Context(), "alice")
		if fault.CodeOf(err) != fault.Unauthenticated || !strings.Contains(err.Error(), "executable file not found") {
			t.Errorf("%s: %v", fault.CodeOf(err), err)
		}
	})
}

// private serves repositories to alice, who has the token.
func private(t *testing.T) (address string) {
	t.Helper()
	root, _ := repositories(t)
	backend := server(t, root)
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, _ := r.BasicAuth(); name != "alice" || password != token {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(remote.Close)
	return remote.URL
}

// Git's own helpers are asked, by git itself, the way that git asks them.
func TestLoginOfGitsHelpers(t *testing.T) {
	address := private(t)
	host := strings.TrimPrefix(address, "http://")
	u, err := userstring.Parse("alice~repo=org/proj")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		config, username string
		question         []string
	}{
		"by the host":         {"", "", []string{"protocol=http", "host=" + host}},
		"of a user":           {"", "alice", []string{"protocol=http", "host=" + host, "username=alice"}},
		"by the path as well": {"\tuseHttpPath = true\n", "", []string{"protocol=http", "host=" + host, "path=org/proj.git"}},
	} {
		t.Run(name, func(t *testing.T) {
			question := filepath.Join(t.TempDir(), "question")
			helper := standIn(t, "helper", `[ "$1" = get ] || exit 0; cat >`+question+`; echo username=alice; echo password=`+token)
			gitConfig(t, "[credential]\n\thelper = "+helper+"\n"+test.config)
			got, err := built(t, ProviderSettings{Kind: KindGit, URL: address + "/{owner}/{name}.git", Username: test.username, CLI: true}).Custom(t.Context(), u)
			if err != nil || yamlOf(got) != "template: two\n" {
				t.Fatalf("%q %v", yamlOf(got), err)
			}
			asked, err := os.ReadFile(question)
			if err != nil || strings.TrimSpace(string(asked)) != strings.Join(test.question, "\n") {
				t.Errorf("the helper was asked %q: %v", asked, err)
			}
		})
	}
}

// A helper that hangs costs the provider's time and no more, though it outlives
// the git that has run it. One that has no login ends it: nobody is asked, by
// whatever way git knows to ask.
func TestGitsHelpersFail(t *testing.T) {
	address := private(t)
	u, err := userstring.Parse("alice~repo=org/proj")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		helper  string
		code    fault.Code
		message string
	}{
		"it hangs":   {"sleep 30", fault.Unavailable, "did not answer within 500ms"},
		"it fails":   {"echo " + token + " >&2; exit 1", fault.Unauthenticated, "`git credential fill` gives no login for 127.0.0.1:"},
		"no login":   {"exit 0", fault.Unauthenticated, "`git credential fill` gives no login for 127.0.0.1:"},
		"a bad word": {"echo username=alice; echo password=wrong", fault.Unauthenticated, "does not accept the login of `git credential fill`"},
	} {
		t.Run(name, func(t *testing.T) {
			helper, asked := standIn(t, "helper", test.helper), filepath.Join(t.TempDir(), "asked")
			ask := standIn(t, "ask", "touch "+asked+"; echo alice")
			gitConfig(t, "[credential]\n\thelper = "+helper+"\n[core]\n\taskPass = "+ask+"\n")
			t.Setenv("GIT_ASKPASS", ask)
			t.Setenv("SSH_ASKPASS", ask)
			began := time.Now()
			_, err := built(t, ProviderSettings{Kind: KindGit, URL: address + "/{owner}/{name}.git", CLI: true, Timeout: timeout(name)}).Custom(t.Context(), u)
			if fault.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.message) || strings.Contains(fmt.Sprintf("%+v", *fault.From(err)), token) {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			if _, err := os.Stat(asked); err == nil {
				t.Error("somebody was asked")
			}
		})
	}
}

// On a terminal, too, git is told not to ask.
func TestGitDoesNotAskOnTheTerminal(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	standIn(t, "git", `echo "$* $GIT_TERMINAL_PROMPT $GCM_INTERACTIVE" >`+told+`; exit 128`)
	u, err := userstring.Parse("alice~repo=org/proj")
	if err != nil {
		t.Fatal(err)
	}
	_, err = built(t, ProviderSettings{Kind: KindGit, URL: "http://127.0.0.1:1/{owner}/{name}.git", CLI: true}).Custom(t.Context(), u)
	if fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("%s: %v", fault.CodeOf(err), err)
	}
	if text, err := os.ReadFile(told); err != nil || string(text) != "credential fill 0 never\n" {
		t.Errorf("git was told %q: %v", text, err)
	}
}
