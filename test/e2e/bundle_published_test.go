//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/registrytest"
)

// publication is something that is published in versions, as people publish it.
type publication struct {
	publish func(version, manifests string)
	source  func(version string) []string // what is typed to install that version
	objects int                           // what is installed besides the ConfigMap
}

// What people publish is installed, upgraded, upgraded to a version whose program never starts, rolled back and
// uninstalled: charts of a registry, pushed by helm, and of a repository, with a dependency in another one; a file of
// YAML at a URL and on disk, a directory of them, an overlay of a kustomization.
func TestBundlesAsPublished(t *testing.T) {
	for name, of := range map[string]func(*world) publication{
		"OCIChart": ociChart, "Repository": repositoryChart, "URL": fileAtURL, "File": fileOnDisk,
		"Directory": directory, "Kustomization": overlay,
	} {
		t.Run(name, func(t *testing.T) {
			w := newBundles(t)
			w.lives(of(w))
		})
	}
}

// lives takes an instance of what is published from its beginning to its end.
func (w *world) lives(p publication) {
	w.Helper()
	w.published(p, "1.0.0", configMap("a", "one"))
	w.published(p, "1.1.0", configMap("a", "two"))
	w.bundle(0, "diff", append(p.source("1.1.0"), "--exit-code")...)

	broken := configMap("a", "three") + "\n---" + program("web", missingImage, sleeping)
	p.publish("1.2.0", broken)
	w.contains(w.bundle(0, "diff", p.source("1.2.0")...).stdout, "create deployment/web", "-  text: two",
		"+  text: three")
	w.contains(w.bundle(3, "install", p.source("1.2.0")...).stderr, explained(w)...)

	back := decode[v1.BundleInstallation](w, w.bundle(0, "rollback", "-o", "json"))
	if back.RolledBackTo != 2 || !back.Healthy || back.Objects.Deleted != 1 {
		w.Errorf("%+v", back)
	}
	w.text("a", "two")
	w.bundle(0, "rollback", "1")
	w.text("a", "one")
	want := []string{"5 deployed", "4 superseded", "3 superseded", "2 superseded", "1 superseded"}
	if got := w.history(); !slices.Equal(got, want) {
		w.Errorf("%q, want %q", got, want)
	}
	w.uninstalled()
}

// published publishes a version and installs it, twice: the second time changes nothing.
func (w *world) published(p publication, version, manifests string) {
	w.Helper()
	p.publish(version, manifests)
	args := append(p.source(version), "-o", "json")
	i := decode[v1.BundleInstallation](w, w.bundle(0, "install", args...))
	if !i.Healthy || i.Objects.Created+i.Objects.Updated+i.Objects.Unchanged != 1+p.objects {
		w.Errorf("%s: %+v", version, i)
	}
	if again := decode[v1.BundleInstallation](w, w.bundle(0, "install", args...)); again.Action != v1.BundleUnchanged {
		w.Errorf("%s, again: %+v", version, again)
	}
}

// text makes sure of what one ConfigMap of the bundle says.
func (w *world) text(name, want string) {
	w.Helper()
	if got := w.texts()[name]; got != want {
		w.Errorf("configmap/%s says %q, want %q", name, got, want)
	}
}

// chartArchive packs a chart into a directory. What it depends on is not in it.
func (w *world) chartArchive(dir, name, version, manifests string, dependencies ...string) string {
	w.Helper()
	source, file := w.TempDir(), filepath.Join(dir, name+"-"+version+".tgz")
	w.tree(source, map[string]string{
		name + "/Chart.yaml": fmt.Sprintf("{apiVersion: v2, name: %s, version: %s, dependencies: [%s]}", name, version,
			strings.Join(dependencies, ", ")),
		name + "/templates/all.yaml": manifests,
	})
	if out, err := exec.Command("tar", "-czf", file, "-C", source, name).CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	return file
}

// ociChart is a chart in a registry, pushed by the real helm. A version is found by the newest of a range.
func ociChart(w *world) publication {
	host, dir := registrytest.Start(w).Host, w.TempDir()
	return publication{
		publish: func(version, manifests string) {
			file := w.chartArchive(dir, "web", version, manifests)
			w.helmAlone("push", file, "oci://"+host+"/charts", "--plain-http")
		},
		source: func(string) []string { return []string{"oci://" + host + "/charts/web", "--version", "^1"} },
	}
}

// repositoryChart is a chart of a repository that depends on one of another repository; both have an index that the
// real helm has written.
func repositoryChart(w *world) publication {
	charts, parts := w.TempDir(), w.TempDir()
	own := httptest.NewServer(http.FileServer(http.Dir(charts)))
	theirs := httptest.NewServer(http.FileServer(http.Dir(parts)))
	w.Cleanup(own.Close)
	w.Cleanup(theirs.Close)
	w.chartArchive(parts, "part", "0.3.0", configMap("part", "of another"))
	w.helmAlone("repo", "index", parts)
	return publication{
		objects: 1,
		publish: func(version, manifests string) {
			part := "{name: part, version: ~0.3, repository: '" + theirs.URL + "'}"
			w.chartArchive(charts, "web", version, manifests, part)
			w.helmAlone("repo", "index", charts, "--url", own.URL)
		},
		source: func(version string) []string { return []string{"repo+" + own.URL + "//web", "--version", version} },
	}
}

// fileAtURL is the install.yaml of a release on a web server.
func fileAtURL(w *world) publication {
	var files sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		text, found := files.Load(r.URL.Path)
		if !found {
			http.NotFound(out, r)
			return
		}
		_, _ = fmt.Fprint(out, text)
	}))
	w.Cleanup(server.Close)
	return publication{
		publish: func(version, manifests string) { files.Store("/v"+version+"/install.yaml", manifests) },
		source:  func(version string) []string { return []string{server.URL + "/v" + version + "/install.yaml"} },
	}
}

// fileOnDisk is one file of YAML, which is changed in its place.
func fileOnDisk(w *world) publication {
	dir := w.TempDir()
	return publication{
		publish: func(_, manifests string) { w.write(dir, "deploy.yaml", manifests) },
		source:  func(string) []string { return []string{filepath.Join(dir, "deploy.yaml")} },
	}
}

// directory is a directory of YAML as projects have them, with others below it and files that are not read.
func directory(w *world) publication {
	dir := w.TempDir()
	w.tree(dir, map[string]string{
		"README.md":         "# {{ not YAML",
		"rbac/account.yaml": "{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}}",
	})
	return publication{
		objects: 1,
		publish: func(_, manifests string) { w.tree(dir, map[string]string{"web/all.yaml": manifests}) },
		source:  func(string) []string { return []string{dir} },
	}
}

// overlay is an overlay over a base beside it.
func overlay(w *world) publication {
	dir := w.TempDir()
	w.tree(dir, map[string]string{
		"base/kustomization.yaml":          "resources: [all.yaml]\n",
		"overlays/prod/kustomization.yaml": "resources: [../../base, account.yaml]\nlabels: [{pairs: {stage: prod}}]\n",
		"overlays/prod/account.yaml":       "{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}}",
	})
	return publication{
		objects: 1,
		publish: func(_, manifests string) { w.tree(dir, map[string]string{"base/all.yaml": manifests}) },
		source:  func(string) []string { return []string{dir + "//overlays/prod"} },
	}
}

// tree writes files with their directories.
func (w *world) tree(dir string, files map[string]string) {
	w.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.Fatal(err)
		}
		w.write(filepath.Dir(path), filepath.Base(path), text)
	}
}

// helmAlone runs the real helm without a cluster and without the settings of this machine.
func (w *world) helmAlone(args ...string) {
	w.Helper()
	home := w.TempDir()
	cmd := exec.Command(os.Getenv("BERTH_TEST_HELM"), args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_CACHE_HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("helm %s: %v\n%s", args, err, out)
	}
}
