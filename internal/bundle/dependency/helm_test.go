package dependency_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/skiptest"
)

// What a chart depends on is what the real helm puts into it: of a chart with a lock and of one without, from a
// repository, which it knows or does not know, from a registry, and from directories. Both are rendered to the same.
func TestHelmDependencyBuild(t *testing.T) {
	helm := skiptest.Helm(t)
	s := newServer(t)
	for _, version := range []string{"1.0.0", "1.2.0+build.1", "1.10.0", "2.0.0-rc.1"} {
		s.add(t, "db", version, chartOf("db", version))
	}
	for _, version := range []string{"1.9.0", "2.0.0-rc.2", "2.0.0-rc.10"} {
		s.add(t, "cache", version, chartOf("cache", version))
	}
	s.add(t, "log", "0.3.0", chartOf("log", "0.3.0"))
	s.mislead = func(_ http.ResponseWriter, r *http.Request) bool { // the same under another URL
		r.URL.Path = strings.Replace(r.URL.Path, "/other/", "/charts/", 1)
		return false
	}
	inner := chartOf("inner", "0.1.0")
	s.add(t, "web", "3.1.0", chartOf("web", "3.1.0", "name: inner, version: '*', repository: ''").
		with("charts", files{"inner-0.1.0.tgz": string(inner.archive(t, "inner"))}))
	all := chartOf("app", "1.0.0", s.repository("db", "^1.2"), s.registry("web", "3.1.0")+", condition: web.enabled",
		"name: db, version: 1.0.0, repository: '@known', alias: second, tags: [extra]",
		s.registry("cache", ">=2-0")+", alias: third",
		strings.Replace(s.repository("log", "*"), "/charts", "/other", 1),
		"name: lib, version: '>=0', repository: 'file://parts/lib', import-values: [data]").
		with("parts/lib", chartOf("lib", "0.4.0").
			with("", files{".helmignore": "*.md\n", "README.md": "x", "values.yaml": "exports: {data: {a: 1}}\n"})).
		with("", files{
			".helmignore": "# nothing of the dependencies\nparts/\n*.orig\n", "a.orig": "x",
			"values.yaml": "web: {enabled: true}\ntags: {extra: false}\n",
			"templates/b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n" +
				"data: {a: '{{ .Values.a }}', files: '{{ range $k, $v := .Files }}{{ $k }} {{ end }}'}\n",
		})
	repositories := "apiVersion: \"\"\nrepositories:\n- {name: known, url: '" + s.url + "/charts'}\n"
	home := files{"repositories.yaml": repositories}.write(t)
	environment := map[string]string{
		"HELM_CONFIG_HOME": home, "HELM_CACHE_HOME": home, "HELM_DATA_HOME": home, "HOME": home,
	}
	build := func(dir, verb string) {
		cmd := exec.CommandContext(t.Context(), helm, "dependency", verb, dir, "--plain-http")
		cmd.Env = os.Environ()
		for name, value := range environment {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	rendered := func(f func() (*chart.Rendered, error)) string {
		r, err := f()
		if err != nil {
			t.Fatal(err)
		}
		return r.Manifest + "\n" + strings.Join(r.Warnings, "\n")
	}
	same := func(without, built string) {
		t.Helper()
		f := newFetcher(t)
		f.Getenv = func(name string) string { return environment[name] }
		c, err := ofPath(t, f, without)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got := rendered(func() (*chart.Rendered, error) { return chart.Load(t.Context(), c.FS(), chart.Options{}) })
		want := rendered(func() (*chart.Rendered, error) {
			return chart.Load(t.Context(), os.DirFS(built), chart.Options{})
		})
		if got != want || strings.Count(got, "kind:") < 7 {
			t.Errorf("%s\nnot as with helm dependency build:\n%s", got, want)
		}
	}
	built := all.write(t)
	build(built, "build")
	same(all.write(t), built)

	lock, err := os.ReadFile(filepath.Join(built, "Chart.lock"))
	if err != nil {
		t.Fatal(err)
	}
	known := filepath.Join(home, "repositories.yaml") // with a lock, helm wants to know each of them
	text, err := os.ReadFile(known)
	if err == nil {
		err = os.WriteFile(known, []byte(string(text)+"- {name: other, url: '"+s.url+"/other'}\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.add(t, "db", "1.11.0", chartOf("db", "1.11.0")) // which the lock leaves alone
	locked := all.with("", files{"Chart.lock": string(lock)})
	again := locked.write(t)
	build(again, "build")
	same(locked.write(t), again)
}
