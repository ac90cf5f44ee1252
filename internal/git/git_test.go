package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

const (
	path  = "dir/file"
	token = "ghp_0123456789secret"
)

// run runs git without the configuration of the machine.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+t.TempDir(),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repositories creates org/proj with branches, tags and a file in each; org/bare without the file; org/hashes with a
// branch named like a commit of org/proj; org/empty; org/odd with a directory in its place; org/huge
// with a large file.
func repositories(t *testing.T) (root, first string) {
	t.Helper()
	root = t.TempDir()
	commit := func(name, file, text string) string {
		dir := filepath.Join(root, "org", name)
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, dir, "add", "-A")
		run(t, dir, "commit", "-q", "-m", "x")
		return run(t, dir, "rev-parse", "HEAD")
	}
	for _, name := range []string{"proj.git", "bare.git", "hashes.git", "odd.git", "empty.git", "huge.git"} {
		dir := filepath.Join(root, "org", name)
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		run(t, dir, "init", "-q", "-b", "main")
	}
	proj := filepath.Join(root, "org", "proj.git")
	first = commit("proj.git", path, "one\n")
	run(t, proj, "tag", "v1")
	run(t, proj, "tag", "-a", "v1-signed", "-m", "x")
	commit("proj.git", path, "two\n")
	run(t, proj, "checkout", "-q", "-b", "Feature/X")
	commit("proj.git", path, "feature\n")
	run(t, proj, "checkout", "-q", "main")
	commit("hashes.git", path, "x")
	run(t, filepath.Join(root, "org", "hashes.git"), "update-ref", "refs/heads/"+first, "HEAD")
	commit("bare.git", "other", "x")
	commit("odd.git", path+"/a", "x")
	commit("huge.git", path, strings.Repeat("# much\n", 200_000))
	return root, first
}

// remoteAt is a remote; env, if given, is the variable that holds its token.
func remoteAt(t *testing.T, address string, env ...string) Remote {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	source := &credential.Source{Getenv: func(string) string { return token }}
	if len(env) > 0 {
		source.Env = env[0]
	}
	return Remote{
		URL: u, Credential: source, SSH: []string{"ssh"}, LoginHint: "configure a login",
		Limits: Limits{Transfer: 64 << 20, Unpacked: 256 << 20, File: 1 << 20},
	}
}

func read(t *testing.T, r Remote, refs ...string) (content string, s *Snapshot, err error) {
	t.Helper()
	if len(refs) == 0 {
		refs = []string{""}
	}
	if s, err = r.Fetch(t.Context(), refs...); err != nil {
		return "", nil, err
	}
	text, err := s.ReadFile(t.Context(), path)
	return string(text), s, err
}

// server is git's own, over HTTP.
func server(t *testing.T, root string) http.Handler {
	t.Helper()
	return &cgi.Handler{
		Path: filepath.Join(run(t, root, "--exec-path"), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
		Stderr: io.Discard,
	}
}

// program puts a shell script in front of the PATH, in place of a program.
func program(t *testing.T, name, script string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(file)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func allowFilter(t *testing.T, root, name string) {
	t.Helper()
	dir := filepath.Join(root, "org", name)
	run(t, dir, "config", "uploadpack.allowFilter", "true")
	run(t, dir, "config", "uploadpack.allowAnySHA1InWant", "true")
}

func TestFetch(t *testing.T) {
	root, first := repositories(t)
	plain := httptest.NewServer(server(t, root))
	t.Cleanup(plain.Close)
	// The other end of this SSH is here: the last argument is what runs there.
	program(t, "ssh", `shift $(($# - 1)); exec /bin/sh -c "$1"`)
	remotes := map[string]string{
		"http": plain.URL, "file": "file://" + root, "ssh": "ssh://git@git.example.com:2222" + root,
	}
	for _, partial := range []bool{false, true} {
		if partial {
			allowFilter(t, root, "proj.git")
		}
		for way, address := range remotes {
			for _, test := range []struct {
				repository string
				refs       []string
				content    string
				code       fault.Code
				says       string
			}{
				{"proj", nil, "two\n", "", ""},
				{"proj", []string{"main"}, "two\n", "", ""},
				{"proj", []string{"v1"}, "one\n", "", ""},
				{"proj", []string{"V1", "v1"}, "one\n", "", ""},
				{"proj", []string{"v1-signed"}, "one\n", "", ""},
				{"proj", []string{"Feature/X", "feature/x"}, "feature\n", "", ""},
				{"proj", []string{"feature/x"}, "", fault.NotFound, "no branch, tag or commit"},
				{"proj", []string{first}, "one\n", "", ""},
				{"proj", []string{first[:9]}, "one\n", "", ""},
				{"hashes", []string{first}, "", fault.NotFound, "no branch, tag or commit"},
				{"proj", []string{strings.Repeat("ab", 20)}, "", fault.NotFound, "no branch, tag or commit"},
				{"proj", []string{"Nope", "nope"}, "", fault.NotFound, `"Nope"`},
				{"odd", nil, "", fault.InvalidArgument, "/org/odd:" + path + " is not a regular file"},
				{"huge", nil, "", fault.InvalidArgument, "larger than 1 MiB"},
				{"empty", nil, "", fault.NotFound, "is empty"},
				{"none", nil, "", fault.NotFound, "not found, or not visible with"},
			} {
				t.Run(fmt.Sprintf("%s partial=%v %s %s", way, partial, test.repository, test.refs), func(t *testing.T) {
					got, s, err := read(t, remoteAt(t, address+"/org/"+test.repository+".git"), test.refs...)
					if fault.CodeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
						t.Errorf("%s: %v", fault.CodeOf(err), err)
					}
					if test.repository == "empty" && fault.From(err).Hint == "" {
						t.Errorf("%v has no hint", err)
					}
					if got != test.content {
						t.Errorf("%q, want %q", got, test.content)
					}
					if got == "one\n" && s.Commit != first {
						t.Errorf("commit %s, want %s", s.Commit, first)
					}
				})
			}
			t.Run(way+" without the file", func(t *testing.T) {
				if _, _, err := read(t, remoteAt(t, address+"/org/bare.git")); !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			})
		}
	}
}

// A remote cannot make the client read without end.
func TestLimits(t *testing.T) {
	root, _ := repositories(t)
	plain := httptest.NewServer(server(t, root))
	t.Cleanup(plain.Close)
	program(t, "ssh", `shift $(($# - 1)); exec /bin/sh -c "$1"`)
	for way, address := range map[string]string{
		"http": plain.URL, "file": "file://" + root,
		"ssh": "ssh://git.example.com" + root,
	} {
		for name, test := range map[string]struct {
			limits Limits
			says   string
		}{
			"transfer": {Limits{Transfer: 2048, Unpacked: 256 << 20, File: 1 << 30}, "sends more than 2 KiB"},
			"unpacked": {Limits{Transfer: 64 << 20, Unpacked: 1 << 20, File: 1 << 30}, "unpacks to more than 1024 KiB"},
		} {
			t.Run(way+" "+name, func(t *testing.T) {
				r := remoteAt(t, address+"/org/huge.git")
				r.Limits = test.limits
				_, _, err := read(t, r)
				if fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s: %v", fault.CodeOf(err), err)
				}
			})
		}
	}
}

// Errors distinguish a remote that requires a login, rejects one, forbids, is down or is silent, and no error holds the
// token.
func TestFetchOverHTTP(t *testing.T) {
	root, _ := repositories(t)
	backend := server(t, root)
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != token {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	})
	status := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	for name, test := range map[string]struct {
		handler http.Handler
		login   bool
		code    fault.Code
		says    string
	}{
		"with a login":    {login, true, "", ""},
		"without a login": {login, false, fault.Unauthenticated, "requires a login for repository"},
		"a wrong login":   {status(401), true, fault.Unauthenticated, "rejected the login from the variable GIT_LOGIN"},
		"forbidden":       {status(403), true, fault.PermissionDenied, "no permission to read repository"},
		"broken":          {status(503), true, fault.Unavailable, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			remote := httptest.NewServer(test.handler)
			defer remote.Close()
			var env []string
			if test.login {
				env = []string{"GIT_LOGIN"}
			}
			got, _, err := read(t, remoteAt(t, remote.URL+"/org/proj.git", env...))
			if fault.CodeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
			if err == nil && got != "two\n" {
				t.Errorf("%q", got)
			}
			if err != nil && strings.Contains(fmt.Sprintf("%+v", *fault.From(err)), token) {
				t.Errorf("%+v", *fault.From(err))
			}
			if err != nil && fault.From(err).Hint == "" {
				t.Errorf("%v has no hint", err)
			}
		})
	}
	_, _, err := read(t, remoteAt(t, "http://127.0.0.1:1/org/proj.git"))
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "repository 127.0.0.1:1/org/proj: ") ||
		!strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}

// A remote that never answers takes as long as the context allows.
func TestFetchEndsWithItsContext(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().
			Done()
	}))
	t.Cleanup(silent.Close)
	program(t, "ssh", "sleep 300")
	for _, address := range []string{silent.URL + "/org/proj", "ssh://git.example.com/org/proj"} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		if _, err := remoteAt(t, address).Fetch(ctx, ""); !errors.Is(err, ctx.Err()) || err == nil {
			t.Errorf("%s: %v", address, err)
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("%s took %s", address, took)
		}
		cancel()
	}
}

// A redirect to another host is followed without the credential.
func TestCredentialStaysAtItsHost(t *testing.T) {
	root, _ := repositories(t)
	backend := server(t, root)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("the other host got %q", got)
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(other.Close)
	sent := make(chan string, 1)
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		select {
		case sent <- password:
		default:
		}
		http.Redirect(w, r, other.URL+r.URL.RequestURI(), http.StatusMovedPermanently)
	}))
	t.Cleanup(home.Close)
	got, _, err := read(t, remoteAt(t, home.URL+"/org/proj.git", "GIT_LOGIN"))
	if err != nil || got != "two\n" || <-sent != token {
		t.Errorf("%q %v", got, err)
	}
}
