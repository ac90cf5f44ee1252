package provider

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

const token = "ghp_0123456789secret"

// program puts a shell script in front of the PATH, in place of a program.
func program(t *testing.T, name, script string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(file)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// built is the chain of one configured provider.
func built(t *testing.T, settings Settings) identity.Chain {
	t.Helper()
	chain, err := NewChain(Config{Providers: []Settings{settings}}, Dependencies{Getenv: func(name string) string {
		return map[string]string{"GIT_LOGIN": token}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

func parse(t *testing.T, text string) userstring.UserString {
	t.Helper()
	u, err := userstring.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// repositories creates org/proj, with a blueprint on main and in the tag v1, and
// org/bare, without one.
func repositories(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	script := exec.Command("/bin/sh", "-ec", `
		git init -q -b main org/proj.git; cd org/proj.git
		echo 'template: one' >.k8shell.yaml; git add -A; git commit -q -m x; git tag v1
		echo 'template: two' >.k8shell.yaml; git commit -q -a -m x; cd ../..
		git init -q -b main org/bare.git; cd org/bare.git; git commit -q --allow-empty -m x`)
	script.Dir = root
	script.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return root
}

func TestGit(t *testing.T) {
	root := repositories(t)
	chain := built(t, Settings{Kind: KindGit, URL: "file://" + root + "/{owner}/{name}.git"})
	for _, test := range []struct {
		user, yaml, origin string
		code               fault.Code
		says               string
	}{
		{"repo=org/proj", "template: two\n", "/org/proj:.k8shell.yaml", "", ""},
		{"repo=org/proj+ref=v1", "template: one\n", "/org/proj@v1:.k8shell.yaml", "", ""},
		{"repo=org/proj+ref=V1", "template: one\n", "/org/proj@v1:.k8shell.yaml", "", ""}, // as typed, then lowered
		{"repo=org/proj+ref=Nope", "", "", fault.NotFound, `no branch, tag or commit "Nope"`},
		{"repo=org/bare", "", "", "", ""},
		{"repo=org/none", "", "", fault.NotFound, "not found, or not visible without a token"},
		{"repo=../proj", "", "", fault.InvalidArgument, `invalid segment ".."`},
		{"repo=-x/proj", "", "", fault.InvalidArgument, `invalid segment "-x"`},
		{"repo=a:b/proj", "", "", fault.InvalidArgument, `invalid segment "a:b"`},
	} {
		got, err := chain.Custom(t.Context(), parse(t, "alice~"+test.user))
		if fault.CodeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %s: %v", test.user, fault.CodeOf(err), err)
		}
		if got != nil && len(got.Commit) != 40 {
			t.Errorf("%s: the commit is %q", test.user, got.Commit)
		}
		if yamlOf(got) != test.yaml || got != nil && got.Name != root+test.origin {
			t.Errorf("%s is %q from %+v, want %q from %s", test.user, yamlOf(got), got, test.yaml, root+test.origin)
		}
	}
}

// What the remote says is one of the provider's answers: an outage ends the
// chain, a repository that is not visible leaves it to the next provider.
func TestGitInTheChain(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, test := range map[string]struct {
		handler          http.HandlerFunc
		settings         Settings
		code             fault.Code
		reason, says     string
		hint, helperSays string
	}{
		"broken": {
			status(503),
			Settings{},
			fault.Unavailable, identity.ReasonUnavailable,
			"could not be reached: repository 127.0.0.1:", "try again", "",
		},
		"silent": {
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			Settings{Timeout: "200ms"},
			fault.Unavailable, identity.ReasonUnavailable, "did not answer within 200ms", "timeout", "",
		},
		"private": {
			status(401),
			Settings{},
			fault.Unauthenticated, git.ReasonNotVisible, "requires a login",
			"identity.providers", "",
		},
		"a wrong login": {
			status(401),
			Settings{TokenEnv: "GIT_LOGIN"},
			fault.Unauthenticated, "TOKEN_REJECTED",
			"rejected the login from the variable GIT_LOGIN", "expired", "",
		},
		"a helper": {
			status(403),
			Settings{CLI: true, Username: "bot"},
			fault.PermissionDenied, git.ReasonNotVisible,
			"with the token from `git credential fill`", "read access", "bot " + token,
		},
	} {
		t.Run(name, func(t *testing.T) {
			program(t, "git", `while read -r line && [ -n "$line" ]; do echo "$line"; done; echo password=`+token)
			login := make(chan string, 10)
			remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				username, password, _ := r.BasicAuth()
				login <- username + " " + password
				test.handler(w, r)
			}))
			defer remote.Close()
			test.settings.Kind, test.settings.URL = KindGit, remote.URL+"/{owner}/{name}.git"
			_, err := built(t, test.settings).Custom(t.Context(), parse(t, "alice~repo=org/proj"))
			if fault.CodeOf(err) != test.code || fault.ReasonOf(err) != test.reason ||
				!strings.Contains(err.Error(), test.says) {
				t.Fatalf("%s %s: %v", fault.CodeOf(err), fault.ReasonOf(err), err)
			}
			if f := fault.From(err); !strings.Contains(f.Hint, test.hint) ||
				strings.Contains(fmt.Sprintf("%+v", *f), token) {
				t.Errorf("%+v", *f)
			}
			if got := <-login; test.helperSays != "" && got != test.helperSays {
				t.Errorf("the login was %q, want %q", got, test.helperSays)
			}
		})
	}
}

// The token of gh is that of the configured host, and it is asked for once.
func TestGitHubWithItsCommandLine(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	program(t, "gh", `echo "$@" >>`+asked+`; echo `+token)
	api := hub(t)
	var authorized atomic.Int32
	enterprise := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+token {
			authorized.Add(1)
		}
		http.StripPrefix("/api/v3", api.Config.Handler).ServeHTTP(w, r)
	}))
	t.Cleanup(enterprise.Close)
	chain := built(t, Settings{Kind: KindGitHub, URL: enterprise.URL, CLI: true})
	if user, err := chain.Resolve(t.Context(), "alice"); err != nil || user.Fullname != "Alice Liddell" {
		t.Fatalf("%+v %v", user, err)
	}
	if caller, err := chain.Caller(t.Context()); err != nil || caller != "alice" {
		t.Errorf("the caller is %q: %v", caller, err)
	}
	question, err := os.ReadFile(asked)
	if want := "auth token --hostname 127.0.0.1\n"; err != nil || string(question) != want || authorized.Load() != 2 {
		t.Errorf("gh was asked %q, want %q; %d requests had its token: %v", question, want, authorized.Load(), err)
	}
}

// A command line that gives no token ends the chain: without one, a private
// repository would seem not to exist. One that hangs takes the provider's time.
func TestGitHubCommandLineFails(t *testing.T) {
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	for script, test := range map[string]struct {
		timeout string
		code    fault.Code
		says    string
	}{
		"exit 1":   {"1m", fault.Unauthenticated, "`gh auth token --hostname 127.0.0.1` failed: exit status 1"},
		"sleep 30": {"200ms", fault.Unavailable, "did not answer within 200ms"},
	} {
		program(t, "gh", script)
		chain := built(t, Settings{Kind: KindGitHub, URL: nothing.URL, CLI: true, Timeout: test.timeout})
		if _, err := chain.Resolve(t.Context(), "alice"); fault.CodeOf(err) != test.code ||
			!strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %s: %v", script, fault.CodeOf(err), err)
		}
	}
}

// A remote may be named in git's short form for SSH; owner and name go into its path.
func TestRemoteInTheShortForm(t *testing.T) {
	r := &remotes{url: "git@git.example.com:{owner}/{name}.git"}
	for typed, want := range map[string]string{
		"alice~repo=org/proj":      "git-upload-pack 'org/proj.git'",
		"alice~repo=org/sub/proj":  "git-upload-pack 'org/sub/proj.git'",
		"alice~repo=org/my%25proj": "git-upload-pack 'org/my%proj.git'",
	} {
		u, err := userstring.Parse(typed)
		if err != nil {
			t.Fatal(err)
		}
		address, err := r.address(u)
		if err != nil || address.Scheme != "ssh" || address.Host != "git.example.com" ||
			"git-upload-pack '"+address.Path+
				"'" != want {
			t.Errorf("%s: %s, %v", typed, address, err)
		}
	}
	var s Settings
	s.Kind, s.URL = KindGit, "git@git.example.com:{owner}/{name}.git"
	if name := s.git(Dependencies{Getenv: func(string) string { return "" }}).Name; name != "git (git.example.com)" {
		t.Errorf("the provider is called %s", name)
	}
	c := &yamldoc.Checker{}
	s.checkURL(c, &yaml.Node{})
	if len(c.Problems) > 0 {
		t.Errorf("%v", c.Problems)
	}
}

// With nothing configured, the cluster says who a user is, and GitHub has the repositories.
func TestDefaultChain(t *testing.T) {
	chain, err := NewChain(Config{}, Dependencies{Getenv: func(string) string { return "" }})
	var names []string
	for _, p := range chain {
		names = append(names, p.Name)
	}
	if err != nil || len(chain) != 2 || names[0] != "kubernetes" || names[1] != "git (github.com)" ||
		chain[0].Users == nil || chain[0].Repositories != nil || chain[1].Users != nil || chain[1].Repositories == nil {
		t.Errorf("%q, %v", names, err)
	}
}
