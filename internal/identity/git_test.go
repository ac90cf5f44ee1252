package identity

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

// run runs git, in a world of its own.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+t.TempDir(),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repositories makes real ones: org/proj with branches, tags and a file in each;
// org/bare without the file; org/empty; org/odd with a directory in its place.
func repositories(t *testing.T) (root, first string) {
	t.Helper()
	root = t.TempDir()
	commit := func(dir, text string) string {
		if err := os.WriteFile(filepath.Join(dir, CustomFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, dir, "add", "-A")
		run(t, dir, "commit", "-q", "-m", "x")
		return run(t, dir, "rev-parse", "HEAD")
	}
	for _, name := range []string{"proj", "bare", "odd", "empty", "huge"} {
		dir := filepath.Join(root, "org", name+".git")
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		run(t, dir, "init", "-q", "-b", "main")
	}
	proj := filepath.Join(root, "org", "proj.git")
	first = commit(proj, "template: one\n")
	run(t, proj, "tag", "v1")
	run(t, proj, "tag", "-a", "v1-signed", "-m", "x")
	commit(proj, "template: two\n")
	run(t, proj, "checkout", "-q", "-b", "Feature/X")
	commit(proj, "template: feature\n")
	run(t, proj, "checkout", "-q", "main")
	bare := filepath.Join(root, "org", "bare.git")
	run(t, bare, "commit", "-q", "--allow-empty", "-m", "x")
	odd := filepath.Join(root, "org", "odd.git")
	if err := os.MkdirAll(filepath.Join(odd, CustomFile), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(odd, CustomFile, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, odd, "add", "-A")
	run(t, odd, "commit", "-q", "-m", "x")
	commit(filepath.Join(root, "org", "huge.git"), strings.Repeat("# much\n", 200_000))
	return root, first
}

func gitAt(remote string, env ...string) *Git {
	return &Git{remote: remote, ssh: []string{"ssh"}, source: func(*url.URL) tokenSource {
		source := tokenSource{getenv: func(string) string { return token }}
		if len(env) > 0 {
			source.env = env[0]
		}
		return source
	}}
}

// server is git's own, over HTTP.
func server(t *testing.T, root string) http.Handler {
	t.Helper()
	return &cgi.Handler{
		Path:   filepath.Join(run(t, root, "--exec-path"), "git-http-backend"),
		Env:    []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
		Stderr: io.Discard,
	}
}

func custom(t *testing.T, g *Git, text string) (*Custom, error) {
	t.Helper()
	u, err := userstring.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return Chain{{Name: "git", Provider: g, Timeout: time.Minute, NoUsers: true}}.Custom(t.Context(), u)
}

func TestGit(t *testing.T) {
	root, first := repositories(t)
	plain := httptest.NewServer(server(t, root))
	t.Cleanup(plain.Close)
	// The other end of this SSH is here: the last argument is what runs there.
	standIn(t, "ssh", `shift $(($# - 1)); exec /bin/sh -c "$1"`)
	remotes := map[string]string{
		"http": plain.URL + "/{owner}/{name}.git", "file": "file://" + root + "/{owner}/{name}.git",
		"ssh": "ssh://git@git.example.com:2222" + root + "/{owner}/{name}.git",
	}
	for _, partial := range []bool{false, true} {
		if partial {
			proj := filepath.Join(root, "org", "proj.git")
			run(t, proj, "config", "uploadpack.allowFilter", "true")
			run(t, proj, "config", "uploadpack.allowAnySHA1InWant", "true")
		}
		for way, remote := range remotes {
			for _, test := range []struct {
				user, yaml string
				code       fault.Code
				says       string
			}{
				{"repo=org/proj", "template: two\n", "", ""},
				{"repo=org/proj+ref=main", "template: two\n", "", ""},
				{"repo=org/proj+ref=v1", "template: one\n", "", ""},
				{"repo=org/proj+ref=V1", "template: one\n", "", ""}, // typed first, then lowered
				{"repo=org/proj+ref=v1-signed", "template: one\n", "", ""},
				{"repo=org/proj+ref=Feature/X", "template: feature\n", "", ""},
				{"repo=org/proj+ref=feature/x", "", fault.NotFound, "no branch, tag or commit"},
				{"repo=org/proj+ref=" + first, "template: one\n", "", ""},
				{"repo=org/proj+ref=" + first[:9], "template: one\n", "", ""},
				{"repo=org/proj+ref=" + strings.Repeat("ab", 20), "", fault.NotFound, "no branch, tag or commit"},
				{"repo=org/proj+ref=nope", "", fault.NotFound, `"nope"`},
				{"repo=org/bare", "", "", ""},
				{"repo=org/odd", "", fault.InvalidArgument, "is not a file"},
				{"repo=org/huge", "", fault.InvalidArgument, "larger than 1 MiB"},
				{"repo=org/empty", "", fault.NotFound, "is empty"},
				{"repo=org/none", "", fault.NotFound, "may not be seen with"},
				{"repo=../proj", "", fault.InvalidArgument, "no part of a repository's name"},
			} {
				t.Run(fmt.Sprintf("%s partial=%v %s", way, partial, test.user), func(t *testing.T) {
					got, err := custom(t, gitAt(remote), "alice~"+test.user)
					if fault.CodeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
						t.Errorf("%s: %v", fault.CodeOf(err), err)
					}
					if yamlOf(got) != test.yaml {
						t.Errorf("%q, want %q", yamlOf(got), test.yaml)
					}
				})
			}
		}
	}
}

// Who asks for a login, refuses one, forbids, is down or is silent are told
// apart; no token is in what is said, and none goes to another host.
func TestGitOverHTTP(t *testing.T) {
	root, _ := repositories(t)
	backend := server(t, root)
	login := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, password, _ := r.BasicAuth(); password != token {
				w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	status := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, test := range map[string]struct {
		handler http.Handler
		login   bool
		code    fault.Code
		says    string
	}{
		"with a login":    {login(backend), true, "", ""},
		"without a login": {login(backend), false, fault.Unauthenticated, "asks for a login for repository org/proj"},
		"a wrong login":   {status(401), true, fault.Unauthenticated, "does not accept the login of the variable GIT_LOGIN"},
		"forbidden":       {status(403), true, fault.PermissionDenied, "does not let you read"},
		"broken":          {status(503), true, fault.Unavailable, "503"},
		"silent":          {silent, true, fault.Unavailable, "did not answer within 500ms"},
	} {
		t.Run(name, func(t *testing.T) {
			remote := httptest.NewServer(test.handler)
			defer remote.Close()
			var env []string
			if test.login {
				env = []string{"GIT_LOGIN"}
			}
			u, _ := userstring.Parse("alice~repo=org/proj")
			timeout := time.Minute
			if name == "silent" {
				timeout = 500 * time.Millisecond
			}
			got, err := Chain{{Name: "git", Provider: gitAt(remote.URL+"/{owner}/{name}.git", env...), Timeout: timeout}}.Custom(t.Context(), u)
			if fault.CodeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
			if err == nil && yamlOf(got) != "template: two\n" {
				t.Errorf("%q", yamlOf(got))
			}
			if err != nil && (strings.Contains(fmt.Sprintf("%+v", *fault.From(err)), token) || fault.From(err).Hint == "") {
				t.Errorf("%+v", *fault.From(err))
			}
		})
	}
	_, err := custom(t, gitAt("http://127.0.0.1:1/{owner}/{name}.git"), "alice~repo=org/proj")
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}

func TestGitTokenStaysAtHome(t *testing.T) {
	root, _ := repositories(t)
	backend, shown := server(t, root), false
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("the other host was shown %q", got)
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(other.Close)
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		shown = shown || password == token
		http.Redirect(w, r, other.URL+r.URL.RequestURI(), http.StatusMovedPermanently)
	}))
	t.Cleanup(home.Close)
	got, err := custom(t, gitAt(home.URL+"/{owner}/{name}.git", "GIT_LOGIN"), "alice~repo=org/proj")
	if err != nil || yamlOf(got) != "template: two\n" || !shown {
		t.Errorf("%q %v, home was shown the token: %v", yamlOf(got), err, shown)
	}
}
