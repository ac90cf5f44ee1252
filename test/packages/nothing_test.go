package packages

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/skiptest"
)

// kubeconfigVariable names the kubeconfig of a cluster; scripts/with-cluster sets it.
const kubeconfigVariable = "BERTH_TEST_KUBECONFIG"

// most is how long it may take from nothing to a workspace.
const most = time.Minute

// systems are where berth is installed with one line, and the line of the README there. Alpine has no curl.
var systems = map[string]struct {
	root func(*testing.T) root
	line string
}{
	"debian":  {debian, "curl -fsSL $BERTH_RELEASES/latest/download/install.sh | sh"},
	"busybox": {alpine, "wget -qO- $BERTH_RELEASES/latest/download/install.sh | sh"},
}

// From a system that has never seen berth to a workspace that can be entered, as a user without rights, with a
// kubeconfig and nothing else.
func TestFromNothing(t *testing.T) {
	for name, system := range systems {
		t.Run(name, func(t *testing.T) {
			needsRoot(t)
			kubeconfig, err := os.ReadFile(os.Getenv(kubeconfigVariable))
			if err != nil {
				skiptest.Lacks(t, "needs a cluster: make test-packages")
			}
			namespace := newNamespace(t, name)
			r := system.root(t)
			r.write(t, "home/dev/.kube/config", string(kubeconfig), 0o600)
			url := serve(t, nil)

			begun := time.Now()
			if out, err := r.shell(url, system.line); err != nil {
				t.Fatalf("%s: %v\n%s", system.line, err, out)
			}
			installed := time.Since(begun)
			out, err := r.shell(url, "PATH=$HOME/.local/bin:$PATH; berth provision alice --namespace "+namespace)
			took := time.Since(begun)
			if err != nil {
				t.Fatalf("berth provision: %v\n%s", err, out)
			}
			t.Logf("installed after %.1fs, a workspace after %.1fs:\n%s", installed.Seconds(), took.Seconds(), out)
			if took > most {
				t.Errorf("it took %s, at most %s are wanted", took, most)
			}
			line := "PATH=$HOME/.local/bin:$PATH; berth exec alice --namespace " + namespace + " -- echo inside"
			if out, err := r.shell(url, line); err != nil || out != "inside\n" {
				t.Errorf("berth exec: %v\n%s", err, out)
			}
		})
	}
}

// What is not whole, not the real one, or older than what is there is not installed, on either system.
func TestScriptRefuses(t *testing.T) {
	const program = "home/dev/.local/bin/berth"
	archive := "_linux_amd64.tar.gz"
	for name, c := range map[string]struct {
		has    string // what is there
		change func(name string, content []byte) []byte
		says   string
	}{
		"a wrong checksum": {change: func(name string, content []byte) []byte {
			if strings.HasSuffix(name, archive) {
				content = append(content, 0)
			}
			return content
		}, says: "the checksum of berth_"},
		"half a file": {change: func(name string, content []byte) []byte {
			if strings.HasSuffix(name, archive) {
				content = content[:len(content)/2]
			}
			return content
		}, says: "the checksum of berth_"},
		"half a script": {change: func(name string, content []byte) []byte {
			if name == "install.sh" {
				content = content[:len(content)/2]
			}
			return content
		}},
		"an old version": {has: "#!/bin/sh\necho v99.0.0\n", says: "is 99.0.0, which is newer than"},
	} {
		for system, s := range systems {
			t.Run(name+"/"+system, func(t *testing.T) {
				needsRoot(t)
				r := s.root(t)
				if c.has != "" {
					r.write(t, program, c.has, 0o700)
				}
				before := names(t, r.path("home/dev"))
				out, err := r.shell(serve(t, c.change), s.line)
				if c.says != "" && (err == nil || !strings.Contains(out, c.says)) {
					t.Errorf("%v, does not say %q:\n%s", err, c.says, out)
				}
				if after := names(t, r.path("home/dev")); strings.Join(before, " ") != strings.Join(after, " ") {
					t.Errorf("the home directory has %q, had %q", after, before)
				}
				if is, _ := os.ReadFile(r.path(program)); string(is) != c.has {
					t.Error("the program is another one")
				}
			})
		}
	}
}

// The line, once more, is an upgrade, and says so.
func TestScriptUpgrades(t *testing.T) {
	for name, s := range systems {
		t.Run(name, func(t *testing.T) {
			needsRoot(t)
			r := s.root(t)
			r.write(t, "home/dev/.local/bin/berth", "#!/bin/sh\necho v0.0.0\n", 0o700)
			out, err := r.shell(serve(t, nil), s.line)
			if err != nil || !strings.Contains(out, "version "+version(t)+" (it was 0.0.0)") {
				t.Errorf("%v:\n%s", err, out)
			}
			if out, err := r.shell("", ".local/bin/berth version && cat .local/share/man/man1/berth.1"); err != nil {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}

// shell runs a line in the home directory of the root's user, with a server of releases.
func (r root) shell(releases, line string) (output string, err error) {
	cmd := r.as("1000:1000", "/bin/sh", "-c", "cd && "+line)
	cmd.Env = append(cmd.Env, "HOME=/home/dev", "USER=dev", "BERTH_RELEASES="+releases)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// serve offers the snapshot as GitHub offers the newest release, with the files changed.
func serve(t *testing.T, change func(name string, content []byte) []byte) (url string) {
	t.Helper()
	dir := snapshot(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		name, ok := strings.CutPrefix(request.URL.Path, "/latest/download/")
		file := filepath.Join(dir, filepath.Base(name))
		if name == "install.sh" {
			file = "../../install.sh"
		}
		content, err := os.ReadFile(file)
		if !ok || err != nil {
			http.NotFound(w, request)
			return
		}
		if change != nil {
			content = change(name, content)
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// newNamespace makes a namespace that pods can be made in.
func newNamespace(t *testing.T, name string) string {
	t.Helper()
	kubectl := func(args ...string) {
		connection := []string{"--kubeconfig", os.Getenv(kubeconfigVariable)}
		run(t, os.Getenv("BERTH_TEST_KUBECTL"), append(connection, args...)...)
	}
	namespace := "nothing-" + name
	kubectl("create", "namespace", namespace)
	t.Cleanup(func() { kubectl("delete", "namespace", namespace, "--wait=false") })
	kubectl("wait", "--for=create", "serviceaccount/default", "--namespace", namespace, "--timeout=60s")
	return namespace
}
