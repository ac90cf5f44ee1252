package source_test

import (
	"io"
	"net/http"
	"net/http/cgi"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// runGit runs git without the configuration of the machine.
func runGit(t *testing.T, dir string, args ...string) string {
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

// repository serves org/app, which has a bundle in deploy/ at the tag v1, over HTTP to
// anyone who has the login.
func repository(t *testing.T) (url, root, commit string) {
	t.Helper()
	root = t.TempDir()
	dir := filepath.Join(root, "org", "app.git")
	for name, text := range map[string]string{"deploy/manifests/a.yaml": "kind: A\n", "README": "x"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runGit(t, dir, "init", "-q", "-b", "main")
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "-m", "x")
	runGit(t, dir, "tag", "-a", "v1", "-m", "x")
	backend := &cgi.Handler{
		Path: filepath.Join(runGit(t, root, "--exec-path"), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
		Stderr: io.Discard,
	}
	url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if username, password, _ := r.BasicAuth(); username != "alice" || password != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	})
	return url + "/org/app.git", root, runGit(t, dir, "rev-parse", "HEAD")
}

func ofGit(repository, directory string, ref v1alpha1.GitRef, auth *v1alpha1.Authorization) v1alpha1.Source {
	return v1alpha1.Source{
		Type: v1alpha1.SourceGit,
		Git:  &v1alpha1.GitSource{Repository: repository, Directory: directory, Ref: ref, Auth: auth},
	}
}

// A directory of a tag becomes content, and the source is pinned to the commit, from
// which the same content comes.
func TestGit(t *testing.T) {
	url, _, commit := repository(t)
	f, _ := onCluster(t, login(url))
	c, resolved, err := f.Fetch(t.Context(), ofGit(url, "deploy", v1alpha1.GitRef{Tag: "v1"}, withLogin()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if resolved.Git.Ref != (v1alpha1.GitRef{Commit: commit}) || resolved.Git.Directory != "deploy" ||
		resolved.Git.Auth == nil || c.Files != 1 {
		t.Errorf("%+v %+v", resolved.Git, c)
	}
	again, _, err := f.Fetch(t.Context(), resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Digest != c.Digest {
		t.Errorf("%s, then %s", c.Digest, again.Digest)
	}
}

func TestGitIsRefused(t *testing.T) {
	url, _, _ := repository(t)
	key := login("ssh://host")
	key.Name, key.Data = "key", map[string][]byte{"ssh-privatekey": []byte("x")}
	f, _ := onCluster(t, login(url, "ssh://host"), wrongLogin(url), key)
	tag := v1alpha1.GitRef{Tag: "v1"}
	withKey := &v1alpha1.Authorization{Secret: v1alpha1.LocalReference{Name: "key"}}
	for name, test := range map[string]struct {
		source v1alpha1.Source
		code   fault.Code
		says   string
	}{
		"no login": {ofGit(url, "", tag, nil), fault.Unauthenticated, "requires a login"},
		"a wrong login": {
			ofGit(url, "", tag, withWrongLogin()), fault.Unauthenticated,
			"rejected the login from secret/wrong for repository 127.0.0.1:",
		},
		"no key at all":   {ofGit("ssh://git@host/x", "", tag, nil), fault.Unauthenticated, "no Secret has one"},
		"no directory":    {ofGit(url, "nope", tag, withLogin()), fault.NotFound, "there is no directory"},
		"no tag":          {ofGit(url, "", v1alpha1.GitRef{Tag: "v2"}, withLogin()), fault.NotFound, `has no tag "v2"`},
		"this machine":    {ofGit("file:///etc", "", tag, nil), fault.InvalidArgument, "is not a URL"},
		"this machine, 2": {ofGit("file://localhost/etc", "", tag, nil), fault.InvalidArgument, `scheme "file"`},
		"git's own":       {ofGit("git://host/x", "", tag, nil), fault.InvalidArgument, `scheme "git"`},
		"like a path":     {ofGit("git@host:org/app", "", tag, nil), fault.InvalidArgument, "is not a URL"},
		"a login":         {ofGit("https://a:b@host/x", "", tag, nil), fault.InvalidArgument, "has a login in it"},
		"a token":         {ofGit("https://s3cret@host/x", "", tag, nil), fault.InvalidArgument, "has a login in it"},
		"no ref": {
			ofGit("https://host/x", "", v1alpha1.GitRef{}, nil), fault.InvalidArgument,
			"has 0 of branch, tag and commit",
		},
		"two refs": {
			ofGit("https://host/x", "", v1alpha1.GitRef{Tag: "a", Branch: "b"}, nil), fault.InvalidArgument,
			"has 2 of branch, tag and commit",
		},
		"no key": {
			ofGit("ssh://git@host/x", "", tag, withLogin()), fault.InvalidArgument,
			"has no ssh-privatekey",
		},
		"no known hosts": {ofGit("ssh://git@host/x", "", tag, withKey), fault.InvalidArgument, "has no ssh-knownhosts"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := f.Fetch(t.Context(), test.source)
			if fault.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) ||
				fault.From(err).Hint == "" ||
				strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
		})
	}
}

// A repository that takes a login is read with what git's credential helpers have, but
// not by a server, which works for others; and nobody is asked where there is a Secret.
func TestGitWithTheCallersOwnLogin(t *testing.T) {
	url, _, _ := repository(t)
	asked := filepath.Join(t.TempDir(), "asked")
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull, "GIT_CONFIG_COUNT": "1",
		"GIT_CONFIG_KEY_0":   "credential.helper",
		"GIT_CONFIG_VALUE_0": "!f() { echo $1 >>" + asked + "; echo username=alice; echo password=s3cret; }; f",
	} {
		t.Setenv(name, value)
	}
	f, _ := onCluster(t, login(url), wrongLogin(url))
	s := ofGit(url, "deploy", v1alpha1.GitRef{Tag: "v1"}, nil)
	if _, _, err := f.Fetch(t.Context(), s); fault.CodeOf(err) != fault.Unauthenticated {
		t.Error(err)
	}
	f.Getenv = os.Getenv
	s.Git.Auth = withWrongLogin()
	if _, _, err := f.Fetch(t.Context(), s); fault.CodeOf(err) != fault.Unauthenticated {
		t.Error(err)
	}
	if text, err := os.ReadFile(asked); !os.IsNotExist(err) {
		t.Errorf("the helper was asked: %s, %v", text, err)
	}
	for address, wanted := range map[string]bool{
		"http://far.invalid/x": false, "https://far.invalid/x": true,
		url: true,
	} {
		repository, err := neturl.Parse(address)
		if err != nil || f.HasOwnLogin(t.Context(), repository) != wanted {
			t.Errorf("%s: not %t, %v", address, wanted, err)
		}
	}
	s.Git.Auth = nil
	c, resolved, err := f.Fetch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if resolved.Git.Auth != nil || c.Files != 1 {
		t.Errorf("%+v %+v", resolved.Git, c)
	}
}

// Over SSH, the user's own client is used, or one with the key of a Secret; of the
// latter nothing is left behind.
func TestGitOverSSH(t *testing.T) {
	_, root, commit := repository(t)
	bin, temporary := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\nfor a; do case $a in */key) grep -q PRIVATE \"$a\" || exit 1; echo key >>" + bin +
		"/log;; esac; done\n" + `shift $(($# - 1)); exec /bin/sh -c "$1"` + "\n"
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", temporary)
	key := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "key", Namespace: system},
		Data:       map[string][]byte{"ssh-privatekey": []byte("PRIVATE"), "ssh-knownhosts": []byte("host x")},
	}
	f, _ := onCluster(t, key)
	f.Getenv = os.Getenv
	for _, auth := range []*v1alpha1.Authorization{nil, {Secret: v1alpha1.LocalReference{Name: "key"}}} {
		c, resolved, err := f.Fetch(t.Context(),
			ofGit("ssh://git@git.example.com"+root+"/org/app.git", "deploy", v1alpha1.GitRef{Branch: "main"}, auth))
		if err != nil {
			t.Fatal(err)
		}
		if resolved.Git.Ref.Commit != commit || c.Files != 1 {
			t.Errorf("%+v %+v", resolved.Git, c)
		}
		_ = c.Close()
		log, _ := os.ReadFile(filepath.Join(bin, "log"))
		if (auth == nil) != (len(log) == 0) {
			t.Errorf("the key was used: %q", log)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
