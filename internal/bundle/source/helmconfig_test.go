package source_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// ofHelm is the environment of a user whose helm has these files.
func ofHelm(t *testing.T, files map[string]string) func(string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return func(name string) string {
		return map[string]string{"HELM_CONFIG_HOME": dir, "HOME": filepath.Join(dir, "home")}[name]
	}
}

// The login that a user has given helm for a repository goes to what is in it, and to nothing else; never
// from a server.
func TestLoginsOfHelm(t *testing.T) {
	var sent []string
	handler := func(w http.ResponseWriter, r *http.Request) {
		username, password, _ := r.BasicAuth()
		sent = append(sent, strings.Trim(username+":"+password, ":"))
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			_, _ = w.Write(chartArchive(t, "1.0.0"))
			return
		}
		_, _ = w.Write([]byte("entries:\n  app:\n  - version: 1.0.0\n    urls: [/charts/a.tgz]\n"))
	}
	at, other := serve(t, handler), ""
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		username, _, _ := r.BasicAuth()
		other += username
		handler(w, r)
	})
	repositories := func(urls ...string) map[string]string {
		text := "apiVersion: v1\nrepositories:\n"
		for i, url := range urls {
			text += fmt.Sprintf("- {name: r%d, url: '%s', username: u%d, password: p}\n", i, url, i)
		}
		return map[string]string{"repositories.yaml": text}
	}
	for name, test := range map[string]struct {
		files  map[string]string
		server bool
		want   string
	}{
		"none":                   {want: ""},
		"the same URL":           {files: repositories(at + "/charts"), want: "u0:p u0:p"},
		"with a slash":           {files: repositories(at + "/charts/"), want: "u0:p u0:p"},
		"the most of it":         {files: repositories(at, at+"/charts", at+"/"), want: "u1:p u1:p"},
		"a repository above":     {files: repositories(at), want: "u0:p u0:p"},
		"a repository below":     {files: repositories(at + "/charts/more"), want: ""},
		"a name that begins so":  {files: repositories(at + "/chart"), want: ""},
		"another host":           {files: repositories(elsewhere + "/charts"), want: ""},
		"another scheme":         {files: repositories("https" + strings.TrimPrefix(at, "http") + "/charts"), want: ""},
		"for a server":           {files: repositories(at + "/charts"), server: true, want: ""},
		"an odd URL in the file": {files: repositories("%zz", at+"/charts"), want: "u1:p u1:p"},
		"no repositories in it":  {files: map[string]string{"repositories.yaml": ""}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			if f.Getenv = ofHelm(t, test.files); test.server {
				t.Setenv("HELM_CONFIG_HOME", f.Getenv("HELM_CONFIG_HOME"))
				f.Getenv = nil
			}
			sent = nil
			c, resolved, err := f.Fetch(t.Context(), ofChart(at+"/charts", "", ""))
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
			if got := strings.TrimSpace(strings.Join(sent, " ")); got != test.want {
				t.Errorf("%q was sent, not %q", got, test.want)
			}
			if resolved.HTTP.Auth != nil {
				t.Errorf("%+v", resolved.HTTP)
			}
		})
	}
	if other != "" {
		t.Errorf("%q was sent elsewhere", other)
	}
}

// A configuration of helm that is broken is an error that names it, and shows nothing of it.
func TestBrokenConfigurationOfHelm(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	chart, image := ofChart(at, "", ""), ofImage(strings.TrimPrefix(at, "http://")+"/org/app", "")
	for name, test := range map[string]struct {
		file, text string
		of         v1alpha1.Source
		says       string
	}{
		"no YAML": {
			"repositories.yaml", "repositories: [{password: hunter2", chart, "it is not a list of repositories",
		},
		"no list":     {"repositories.yaml", "repositories: hunter2", chart, "it is not a list of repositories"},
		"too large":   {"repositories.yaml", "a: " + strings.Repeat("x", 2<<20), chart, "larger than 1 MiB"},
		"a directory": {"repositories.yaml/x", "", chart, "is a directory"},
		"no JSON": {
			"registry/config.json", `{"auths": {"x": {"auth": "hunter2"`, image, "is not a registry configuration",
		},
		"large JSON": {"registry/config.json", strings.Repeat(" ", 5<<20), image, "is not a registry configuration"},
		"a folder":   {"registry/config.json/x", "", image, "is a directory"},
	} {
		f := newFetcher(t)
		f.Getenv = ofHelm(t, map[string]string{test.file: test.text})
		_, _, err := f.Fetch(t.Context(), test.of)
		file := strings.TrimSuffix(filepath.Join(f.Getenv("HELM_CONFIG_HOME"), test.file), "/x")
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), test.says) ||
			!strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Registries get the login of `helm registry login`, and without one that of docker.
func TestRegistryLoginsOfHelm(t *testing.T) {
	ref := registryOf(t, "manifests/a.yaml")
	host, _, _ := strings.Cut(ref, "/")
	login := func(password string) string {
		auth := base64.StdEncoding.EncodeToString([]byte("alice:" + password))
		return `{"auths": {"` + host + `": {"auth": "` + auth + `"}}}`
	}
	const helm, docker = "registry/config.json", "home/.docker/config.json"
	for name, test := range map[string]struct {
		files map[string]string
		code  fault.Code
	}{
		"none":                   {code: fault.Unauthenticated},
		"helm's":                 {files: map[string]string{helm: login("s3cret")}},
		"docker's":               {files: map[string]string{docker: login("s3cret")}},
		"helm's before docker's": {files: map[string]string{helm: login("s3cret"), docker: login("0ther")}},
		"docker's, as helm has none": {
			files: map[string]string{helm: `{"auths": {"x": {"auth": "YTpi"}}}`, docker: login("s3cret")},
		},
		"helm's, which is wrong": {
			files: map[string]string{helm: login("0ther"), docker: login("s3cret")}, code: fault.Unauthenticated,
		},
	} {
		f := newFetcher(t)
		f.Getenv = ofHelm(t, test.files)
		c, _, err := f.Fetch(t.Context(), ofImage(ref+":v1", ""))
		if err == nil {
			_ = c.Close()
		}
		if fault.CodeOf(err) != test.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The login of a source goes along with what its content names to the hosts that its Secret names, and from a terminal
// to the host of the source: the author of the content chooses no host.
func TestLoginsGoAlong(t *testing.T) {
	packed := targz(t, map[string]string{"a": "a"})
	at, third := serve(t, basic(packed)), serve(t, basic(packed))
	for name, test := range map[string]struct {
		hosts    []string
		terminal bool
		to       string
		goes     bool
	}{
		"a server, to a host of the Secret":   {hosts: []string{at, third}, to: third, goes: true},
		"a server, to another":                {hosts: []string{at}, to: third},
		"a server, to the source's":           {hosts: []string{at}, to: at, goes: true},
		"a terminal, to a host of the Secret": {hosts: []string{third}, terminal: true, to: third, goes: true},
		"a terminal, to another":              {terminal: true, to: third},
		"a terminal, to the source's":         {terminal: true, to: at, goes: true},
	} {
		f, _ := onCluster(t, login(test.hosts...))
		if test.terminal {
			f.Getenv = ofHelm(t, nil)
		}
		for _, s := range []v1alpha1.Source{
			overHTTP(at+"/a.tgz", withLogin()), ofChart(at, "", "login"),
			ofGit(at+"/x.git", "", v1alpha1.GitRef{Tag: "v1"}, withLogin()),
		} {
			c, _, err := f.Beside(s).Fetch(t.Context(), overHTTP(test.to+"/b.tgz", nil))
			if err == nil {
				_ = c.Close()
			}
			if (err == nil) != test.goes || err != nil && fault.CodeOf(err) != fault.Unauthenticated {
				t.Errorf("%s, %s: %v", name, s.Type, err)
			}
		}
	}
	f, _ := onCluster(t, login(at))
	ofRegistry := f.Beside(ofImage("r.example.com/x", "login"))
	_, _, err := ofRegistry.Fetch(t.Context(), overHTTP(third+"/b.tgz", nil))
	if fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("%v", err)
	}
}

// A pull secret goes along to the registries that it names.
func TestPullSecretsGoAlong(t *testing.T) {
	ref := registryOf(t, "manifests/a.yaml")
	host, _, _ := strings.Cut(ref, "/")
	for hosts, goes := range map[string]bool{host: true, "other.example.com": false} {
		f, _ := onCluster(t, pullSecret(hosts), login("x"))
		for _, from := range []v1alpha1.Source{ofImage("r.example.com/x", "pull")} {
			c, _, err := f.Beside(from).Fetch(t.Context(), ofImage(ref+":v1", ""))
			if err == nil {
				_ = c.Close()
			}
			if (err == nil) != goes {
				t.Errorf("%s: %v", hosts, err)
			}
		}
		ofWeb := f.Beside(ofChart("https://x.example.com", "", "login"))
		if _, _, err := ofWeb.Fetch(t.Context(), ofImage(ref+":v1", "")); fault.CodeOf(err) != fault.Unauthenticated {
			t.Errorf("%v", err)
		}
	}
}
