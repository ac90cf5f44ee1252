package dependency_test

import (
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/dependency"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
)

// commit serves the files of a directory as a repository of one commit, and counts the packs that it sends.
func commit(t *testing.T, dir string, config ...string) (url string, packs func() int) {
	t.Helper()
	run := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
			"GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "-b", "main")
	for _, setting := range config {
		run("config", setting, "true")
	}
	run("add", "-A")
	run("commit", "-q", "-m", "x")
	backend := &cgi.Handler{
		Path: filepath.Join(run("--exec-path"), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + filepath.Dir(dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
		Stderr: io.Discard,
	}
	sent := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			sent++
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/" + filepath.Base(dir), func() (n int) { n, sent = sent, 0; return n }
}

// Charts of one commit depend on each other by their paths, as those of one directory do: they are read of that very
// commit, and nothing outside of it is. No link leads to a chart, and none out of one.
func TestSiblingsOfACommit(t *testing.T) {
	on := func(path string) string { return "name: lib, version: '*', repository: 'file://" + path + "'" }
	dir := files{"README.md": "x", "other/x.yaml": "x"}.
		with("charts/app", chartOf("app", "1.0.0", on("../lib"))).
		with("charts/lib", chartOf("lib", "0.1.0", "name: low, version: '*', repository: 'file://../../low'")).
		with("charts/lib", files{"base.yaml": "{}"}).
		with("low", chartOf("low", "0.2.0")).
		with("charts/twice", chartOf("twice", "1.0.0", on("../lib"), on("../../charts/lib")+", alias: again")).
		with("charts/out", chartOf("out", "1.0.0", on("../../../x"))).
		with("charts/etc", chartOf("etc", "1.0.0", on("/etc"))).
		with("charts/ring", chartOf("ring", "1.0.0", "name: back, version: '*', repository: 'file://../back'")).
		with("charts/back", chartOf("back", "1.0.0", "name: ring, version: '*', repository: 'file://../ring'")).
		with("charts/gone", chartOf("gone", "1.0.0", on("../nothing"))).
		with("charts/none", chartOf("none", "1.0.0", on("../../other"))).
		with("charts/link", chartOf("link", "1.0.0", on("../away"))).
		with("charts/through", chartOf("through", "1.0.0", on("../away/lib"))).
		with("charts/within", chartOf("within", "1.0.0", on("../odd"))).
		with("charts/odd", chartOf("lib", "1.0.0")).write(t)
	outside := files{}.with("lib", chartOf("lib", "1.0.0")).write(t)
	for link, to := range map[string]string{
		"charts/away": outside, "charts/odd/values.yaml": "/etc/passwd", "charts/lib/values.yaml": "base.yaml",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	url, packs := commit(t, dir)
	const all = "Chart.yaml charts/lib-0.1.0/Chart.yaml charts/lib-0.1.0/base.yaml " +
		"charts/lib-0.1.0/charts/low-0.2.0/Chart.yaml charts/lib-0.1.0/values.yaml"
	for name, test := range map[string]struct{ dir, want, refused string }{
		"beside and above":   {dir: "charts/app", want: all},
		"the same twice":     {dir: "charts/twice/", want: all},
		"not outside of all": {dir: "charts/out", refused: "file://../../../x is outside of the content"},
		"not of the machine": {dir: "charts/etc", refused: "file:///etc is outside of the content"},
		"in a circle": {
			dir:     "charts/ring",
			refused: "a chart cannot depend on itself: ring → back → ring",
		},
		"nothing":                  {dir: "charts/gone", refused: "there is no directory"},
		"no chart":                 {dir: "charts/none", refused: "other of the content is no chart"},
		"by a link that leads out": {dir: "charts/link", refused: "charts/away is a symbolic link, not a directory"},
		"through such a link":      {dir: "charts/through", refused: "there is no directory"},
		"with such a link": {
			dir:     "charts/within",
			refused: `"values.yaml": a symbolic link to "/etc/passwd", which is outside`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			from := v1alpha1.Source{Type: v1alpha1.SourceGit, Git: &v1alpha1.GitSource{
				Repository: url, Directory: test.dir, Ref: v1alpha1.GitRef{Branch: "main"},
			}}
			packs()
			c, resolved, err := dependency.Fetch(t.Context(), newFetcher(t), from)
			if n := packs(); n != 1 {
				t.Errorf("%d packs were fetched", n)
			}
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) || fault.From(err).Hint == "" {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := names(t, c); got != test.want {
				t.Error(got)
			}
			if err := chart.Check(t.Context(), c.FS(), chart.Options{}); err != nil {
				t.Error(err)
			}
			again, _, err := dependency.Fetch(t.Context(), newFetcher(t), resolved)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if again.Digest != c.Digest {
				t.Errorf("%s, and then %s", c.Digest, again.Digest)
			}
		})
	}
}

// Of a repository that sends single files, no more are fetched than belong to the charts.
func TestSiblingsOfAFilteredCommit(t *testing.T) {
	dir := files{"large": strings.Repeat("x", 2<<20)}.
		with("app", chartOf("app", "1.0.0", "name: lib, version: '*', repository: 'file://../lib'")).
		with("lib", chartOf("lib", "1.0.0")).write(t)
	url, packs := commit(t, dir, "uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant")
	f := newFetcher(t)
	f.Limits.Unpacked, f.Limits.File = 1<<20, 1<<20
	c, _, err := dependency.Fetch(t.Context(), f, v1alpha1.Source{Type: v1alpha1.SourceGit, Git: &v1alpha1.GitSource{
		Repository: url, Directory: "app", Ref: v1alpha1.GitRef{Branch: "main"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := names(t, c); got != "Chart.yaml charts/lib-1.0.0/Chart.yaml" || packs() != 3 {
		t.Error(got)
	}
}
