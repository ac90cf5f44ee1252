package source_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
)

// overlays is a repository with a kustomization that refers to what is above it.
func overlays() map[string]string {
	return map[string]string{
		"README.md":                            "x",
		"apps/base/kustomization.yaml":         "resources: [a.yaml]\n",
		"apps/base/a.yaml":                     "kind: A\n",
		"apps/overlays/prod/kustomization.yml": "resources: [../../base]\n",
		"apps/overlays/dev/kustomization.yml":  "resources: [../../base]\n",
		"apps/chart/Chart.yaml":                "name: c\n",
	}
}

func namesOf(t *testing.T, c *content.Content) (names []string) {
	t.Helper()
	err := fs.WalkDir(c.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// The content of a part is that of its directory; of a kustomization that refers to others above it, these are in it,
// and nothing else of the directory.
func TestLocalPart(t *testing.T) {
	dir := t.TempDir()
	for name, text := range overlays() {
		write(t, filepath.Join(dir, name), text)
	}
	if err := os.Symlink("base", filepath.Join(dir, "apps", "link")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "apps", "linked", "kustomization.yaml"), "resources: [../link]\n")
	for name, test := range map[string]struct {
		source string
		want   []string
		err    string
	}{
		"a chart": {source: "//apps/chart", want: []string{"Chart.yaml"}},
		"a base":  {source: "//apps/base/", want: []string{"a.yaml", "kustomization.yaml"}},
		"no part": {source: "/apps/chart//", want: []string{"Chart.yaml"}},
		"with what is there": {source: "//apps/overlays/prod", want: []string{
			"apps/base/a.yaml", "apps/base/kustomization.yaml", "apps/overlays/prod/kustomization.yml",
			"kustomization.yaml",
		}},
		"with what is in its directory": {source: "/apps//overlays/prod", want: []string{
			"base/a.yaml", "base/kustomization.yaml", "kustomization.yaml", "overlays/prod/kustomization.yml",
		}},
		"without what is not": {source: "/apps/overlays//prod", want: []string{"kustomization.yml"}},
		"through a link": {source: "//apps/linked", want: []string{
			"apps/link/a.yaml", "apps/link/kustomization.yaml", "apps/linked/kustomization.yaml", "kustomization.yaml",
		}},
		"outside":          {source: "//../x", err: `directory "../x" is not in `},
		"nothing":          {source: "//apps/none", err: "apps/none does not exist"},
		"a part of a file": {source: "/README.md//x", err: "README.md is not a directory, of which //x is a part"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := newFetcher(t).Local(t.Context(), dir+test.source, nil)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || fault.CodeOf(err) == fault.Internal {
					t.Errorf("%v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if diff := cmp.Diff(test.want, namesOf(t, c)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Two slashes in a path are as good as one where no kustomization refers to what is above it.
func TestTwoSlashes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range overlays() {
		write(t, filepath.Join(dir, name), text)
	}
	packed := targz(t, map[string]string{"manifests/a.yaml": "kind: A\n"})
	write(t, filepath.Join(dir, "dist", "bundle.tgz"), string(packed))
	write(t, filepath.Join(dir, "dist", "web.yaml"), "kind: A\n")
	write(t, filepath.Join(dir, "dist", "web", "manifests", "a.yaml"), "kind: A\n")
	for _, test := range []struct{ two, one string }{
		{"/dist//bundle.tgz", "/dist/bundle.tgz"},
		{"//dist//bundle.tgz", "/dist/bundle.tgz"},
		{"/dist//web.yaml", "/dist/web.yaml"},
		{"/dist//web", "/dist/web"},
		{"/dist//web/", "/dist/web"},
		{"/apps//chart", "/apps/chart"},
		{"/apps//base", "/apps/base"},
	} {
		t.Run(test.two, func(t *testing.T) {
			var digests []string
			for _, name := range []string{test.two, test.one} {
				c, err := newFetcher(t).Local(t.Context(), dir+name, nil)
				if err != nil {
					t.Fatal(err)
				}
				digests = append(digests, strings.Join(namesOf(t, c), " ")+" "+c.Digest)
				_ = c.Close()
			}
			if digests[0] != digests[1] {
				t.Errorf("%s, and with one slash %s", digests[0], digests[1])
			}
		})
	}
}

// A part is in its directory: no link leads out of that, whatever is there.
func TestPartsAreInTheirDirectory(t *testing.T) {
	out, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(out, "files", "a.yaml"), "kind: A\n")
	write(t, filepath.Join(out, "kustomization", "kustomization.yaml"), "{}\n")
	write(t, filepath.Join(dir, "real", "a.yaml"), "kind: A\n")
	for name, target := range map[string]string{
		"files": filepath.Join(out, "files"), "file": filepath.Join(out, "files", "a.yaml"), "inside": "real",
		"kustomization": filepath.Join(out, "kustomization"), "above": "../" + filepath.Base(dir) + "/real",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for part, escapes := range map[string]bool{
		"files": true, "file": true, "kustomization": true, "above": true, "inside": false, "inside/a.yaml": false,
	} {
		t.Run(part, func(t *testing.T) {
			c, err := newFetcher(t).Local(t.Context(), dir+"//"+part, nil)
			if err == nil {
				_ = c.Close()
			}
			switch {
			case !escapes && err != nil:
				t.Error(err)
			case escapes && (fault.CodeOf(err) != fault.InvalidArgument ||
				!strings.Contains(err.Error(), part+" cannot")):
				t.Errorf("%v, want that it leads out of the directory", err)
			}
		})
	}
}

// What else is in a directory does not change the content of a part.
func TestPartsDoNotDependOnTheRest(t *testing.T) {
	dir := t.TempDir()
	for name, text := range overlays() {
		write(t, filepath.Join(dir, name), text)
	}
	f := newFetcher(t)
	digest := func() string {
		c, err := f.Local(t.Context(), dir+"//apps/overlays/prod", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.Digest
	}
	before := digest()
	write(t, filepath.Join(dir, "README.md"), "y")
	write(t, filepath.Join(dir, filepath.FromSlash("apps/overlays/dev/kustomization.yml")), "resources: "+
		"[../../base]\nnamePrefix: x\n")
	if digest() != before {
		t.Error("another digest for other files")
	}
	write(t, filepath.Join(dir, filepath.FromSlash("apps/base/a.yaml")), "kind: B\n")
	if digest() == before {
		t.Error("the same digest for another base")
	}
}

// A directory of a repository has the content that it has in a working tree.
func TestGitPart(t *testing.T) {
	url, root, _ := repository(t)
	dir := filepath.Join(root, "org", "app.git")
	for name, text := range overlays() {
		write(t, filepath.Join(dir, name), text)
	}
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "-m", "y")
	f, _ := onCluster(t, login(url))
	for _, part := range []string{"apps/overlays/prod", "apps/base", "apps/chart", "apps"} {
		c, resolved, err := f.Fetch(t.Context(), ofGit(url, part, v1alpha1.GitRef{Branch: "main"}, withLogin()))
		if err != nil {
			t.Fatal(err)
		}
		local, err := f.Local(t.Context(), dir+"//"+part, nil)
		if err != nil {
			t.Fatal(err)
		}
		if local.Digest != c.Digest || resolved.Git.Directory != part {
			t.Errorf("%s: %v, and %v in the working tree", part, namesOf(t, c), namesOf(t, local))
		}
		again, _, err := f.Fetch(t.Context(), resolved)
		if err != nil || again.Digest != c.Digest {
			t.Errorf("%s: fetched again, it is %v, %v", part, again, err)
		}
		for _, one := range []*content.Content{c, local, again} {
			_ = one.Close()
		}
	}
	_, _, err := f.Fetch(t.Context(), ofGit(url, "apps/none", v1alpha1.GitRef{Branch: "main"}, withLogin()))
	if fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// Links within a part that lead out of it are refused by name, as in any content.
func TestPartsRefuseLinks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range overlays() {
		write(t, filepath.Join(dir, name), text)
	}
	for name, target := range map[string]string{
		"apps/base/passwd": "/etc/passwd", "apps/base/readme": "../../README.md", "apps/base/b.yaml": "a.yaml",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := newFetcher(t).Local(t.Context(), dir+"//apps/overlays/prod", nil)
	if err == nil || !strings.Contains(err.Error(), "apps/base/passwd") {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash("apps/base/passwd"))); err != nil {
		t.Fatal(err)
	}
	_, err = newFetcher(t).Local(t.Context(), dir+"//apps/overlays/prod", nil)
	if err == nil || !strings.Contains(err.Error(), "apps/base/readme") {
		t.Error(err)
	}
}

func FuzzLocalPath(f *testing.F) {
	for _, seed := range []string{"./a//b", "//a", "a//../b", "/", "", "a//b//c"} {
		f.Add(seed)
	}
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("kind: A\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if slices.Contains(strings.Split(name, "/"), "..") {
			t.Skip("anything may be above")
		}
		c, err := newFetcher(t).Local(t.Context(), dir+"/"+name, nil)
		if err == nil {
			_ = c.Close()
			return
		}
		if code := fault.CodeOf(err); code == fault.Internal {
			t.Error(err)
		}
	})
}
