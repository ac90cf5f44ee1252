package packages

import (
	"archive/tar"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// some are files that each package brings.
var some = []string{
	"/usr/bin/berth", "/usr/share/bash-completion/completions/berth", "/usr/share/fish/vendor_completions.d/berth.fish",
	"/usr/share/man/man1/berth.1", "/usr/share/man/man1/berth-provision.1",
}

// Each package is installed with its own package manager, berth runs, and nothing is left when it is removed.
func TestPackages(t *testing.T) {
	for name, c := range map[string]struct {
		root            func(*testing.T) root
		install, remove func(*testing.T, root)
	}{
		"deb": {debian, installDeb, func(t *testing.T, r root) { r.must(t, "dpkg", "--purge", "berth") }},
		"rpm": {alpine, installRpm, func(t *testing.T, r root) { rpm(t, r, "--erase", "berth") }},
		"apk": {alpine, unpackApk, removeApk},
	} {
		t.Run(name, func(t *testing.T) {
			needsRoot(t)
			r := c.root(t)
			before := r.files(t)
			c.install(t, r)
			files := r.files(t)
			for _, file := range some {
				if files[file] == "" {
					t.Errorf("%s is not there", file)
				}
			}
			if said := r.must(t, "berth", "version"); !strings.HasPrefix(said, "berth ") {
				t.Errorf("berth version says %q", said)
			}
			c.remove(t, r)
			if diff := cmp.Diff(before, r.files(t)); diff != "" {
				t.Errorf("what is left (-before +after):\n%s", diff)
			}
		})
	}
}

// installDeb installs it twice, as an upgrade does.
func installDeb(t *testing.T, r root) {
	run(t, "cp", artifact(t, "_linux_amd64.deb"), r.path("tmp/berth.deb"))
	for range 2 {
		r.must(t, "dpkg", "--install", "/tmp/berth.deb")
	}
	if err := os.Remove(r.path("tmp/berth.deb")); err != nil {
		t.Fatal(err)
	}
	if changed := r.must(t, "dpkg", "--verify", "berth"); changed != "" {
		t.Errorf("dpkg --verify says:\n%s", changed)
	}
	if owner := r.must(t, "dpkg", "--search", "/usr/bin/berth"); owner != "berth: /usr/bin/berth\n" {
		t.Errorf("/usr/bin/berth is of %q", owner)
	}
}

// rpm runs this machine's rpm on a root, which does not have one.
func rpm(t *testing.T, r root, args ...string) string {
	t.Helper()
	needs(t, "rpm")
	return run(t, "rpm", append([]string{"--root", string(r), "--dbpath", "/var/lib/rpm", "--nosignature"}, args...)...)
}

func installRpm(t *testing.T, r root) {
	rpm(t, r, "--initdb")
	rpm(t, r, "--install", "--force-debian", artifact(t, "_linux_amd64.rpm"))
	if changed := rpm(t, r, "--verify", "berth"); changed != "" {
		t.Errorf("rpm --verify says:\n%s", changed)
	}
	if owner := rpm(t, r, "--query", "--queryformat", "%{NAME}", "--file", "/usr/bin/berth"); owner != "berth" {
		t.Errorf("/usr/bin/berth is of %q", owner)
	}
}

// unpackApk does what apk does with a package that has no scripts: it unpacks it over the root, without the files about
// the package itself. TestApkIsWhole checks what else apk asks of it.
func unpackApk(t *testing.T, r root) {
	run(t, "cp", artifact(t, "_linux_amd64.apk"), r.path("tmp/berth.apk"))
	r.must(t, "tar", "-xzf", "/tmp/berth.apk", "-C", "/")
	for _, header := range readTar(t, artifact(t, "_linux_amd64.apk")) {
		if name := header.Name; strings.HasPrefix(name, ".") {
			if name != ".PKGINFO" {
				t.Errorf("%s is in the package: a script that this test does not run", name)
			}
			_ = os.Remove(r.path(name))
		}
	}
	if err := os.Remove(r.path("tmp/berth.apk")); err != nil {
		t.Fatal(err)
	}
}

func removeApk(t *testing.T, r root) {
	for _, header := range readTar(t, artifact(t, "_linux_amd64.apk")) {
		if header.Typeflag == tar.TypeReg && !strings.HasPrefix(header.Name, ".") {
			if err := os.Remove(r.path(header.Name)); err != nil {
				t.Error(err)
			}
		}
	}
}

// names are the files of a home directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	files := root(dir).files(t)
	return slices.Sorted(maps.Keys(files))
}

// write writes a file of a root's user.
func (r root) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	file := r.path(name)
	var made []string
	for dir := filepath.Dir(file); !exists(dir); dir = filepath.Dir(dir) {
		made = append(made, dir)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range made {
		if err := os.Chown(dir, user, user); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, user, user); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
