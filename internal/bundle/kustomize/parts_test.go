package kustomize_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/fault"
)

// What belongs to a kustomization are its directory and those that it refers to, however many times removed.
func TestFind(t *testing.T) {
	const (
		comment = "# The kustomization of a/b, with what it refers to beside it.\n"
		version = "apiVersion: kustomize.config.k8s.io/v1beta1\n"
		kind    = "kind: Kustomization\n"
		lead    = version + kind + "resources:\n- a/b\n"
	)
	for name, test := range map[string]struct {
		files map[string]string
		dirs  []string
		root  string
	}{
		"no kustomization": {
			map[string]string{"a/b/x.yaml": ""},
			[]string{"a/b"},
			"",
		},
		"one that cannot be read": {
			map[string]string{"a/b/kustomization.yaml": "resources: ["},
			[]string{"a/b"},
			"",
		},
		"one that has what it takes": {
			map[string]string{"a/b/kustomization.yaml": "resources: [x.yaml, c]", "a/b/c/Kustomization": "{}"},
			[]string{"a/b"},
			"",
		},
		"what is not there": {
			map[string]string{"a/b/kustomization.yaml": "resources: [../x, ../../y]", "y/z.yaml": ""},
			[]string{"a/b"},
			"",
		},
		"what is elsewhere": {
			map[string]string{"a/b/kustomization.yaml": "resources: [/a/c, ../../../x, " +
				"'github.com/a/b']", "a/c/Kustomization": "{}"},
			[]string{"a/b"},
			"",
		},
		"what holds it": {
			map[string]string{"a/b/kustomization.yaml": "resources: [.., " +
				"../..]", "a/Kustomization": "{}", "Kustomization": "{}"},
			[]string{"a/b"},
			"",
		},
		"a base": {
			map[string]string{"a/b/kustomization.yaml": "resources: [../../base]", "base/kustomization.yml": "{}"},
			[]string{"a/b", "base"},
			lead,
		},
		"bases of bases of one in it": {
			map[string]string{"a/b/kustomization.yaml": "resources: [c]", "a/b/c/Kustomization": "bases: " +
				"[../../d]", "a/d/Kustomization": "components: [../../e]", "e/Kustomization": "kind: Component"},
			[]string{"a/b", "a/d", "e"},
			lead,
		},
		"one base in another": {
			map[string]string{"a/b/kustomization.yaml": "resources: [../d/e, " +
				"../d]", "a/d/Kustomization": "{}", "a/d/e/Kustomization": "{}"},
			[]string{"a/b", "a/d"},
			lead,
		},
		"a component": {
			map[string]string{"a/b/kustomization.yaml": "kind: Component\ncomponents: " +
				"[../d]", "a/d/Kustomization": "kind: Component"},
			[]string{"a/b", "a/d"},
			version + "components:\n- a/b\n" + kind,
		},
		"what counts at the root alone": {
			map[string]string{"a/b/kustomization.yaml": "resources: [../d]\nsortOptions: {order: fifo}\n" +
				"buildMetadata: [managedByLabel]\nnamePrefix: x", "a/d/Kustomization": "{}"},
			[]string{"a/b", "a/d"},
			version + "buildMetadata:\n- managedByLabel\n" + kind + "resources:\n- a/b\n" +
				"sortOptions:\n  order: fifo\n",
		},
		"a cycle": {
			map[string]string{"a/b/kustomization.yaml": "resources: [../d]", "a/d/Kustomization": "resources: [../b]"},
			[]string{"a/b", "a/d"},
			lead,
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := content(test.files)
			got, err := kustomize.Find(t.Context(), "a/b/", func(name string) ([]byte, error) {
				return fs.ReadFile(fsys, name)
			})
			if err != nil {
				t.Fatal(err)
			}
			want := kustomize.Parts{Dirs: test.dirs}
			if test.root != "" {
				want.Root = []byte(comment + test.root)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The parts of a kustomization are built to the same as it is in its tree.
func TestPartsAreBuiltTheSame(t *testing.T) {
	tree := content(map[string]string{
		"README.md": "x", "kustomization.yaml": "resources: [unrelated]\n", "unrelated/a.yaml": service,
		"base/kustomization.yaml": "resources: [s.yaml]\nnamePrefix: base-\n", "base/s.yaml": service,
		"parts/labels/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n" +
			"labels: [{pairs: {a: b}}]\n",
		"overlays/prod/kustomization.yaml": "resources: [../../base]\ncomponents: [../../parts/labels]\nnamespace: " +
			"prod\n" +
			"configMapGenerator: [{name: c, files: [f.txt]}]\nbuildMetadata: [managedByLabel]\n",
		"overlays/prod/f.txt": "text",
	})
	parts, err := kustomize.Find(t.Context(), "overlays/prod", func(name string) ([]byte, error) {
		return fs.ReadFile(tree, name)
	})
	if err != nil {
		t.Fatal(err)
	}
	some := fstest.MapFS{kustomize.RootName: {Data: parts.Root}}
	for name, file := range tree {
		if slices.ContainsFunc(parts.Dirs, func(dir string) bool { return strings.HasPrefix(name, dir+"/") }) {
			some[name] = file
		}
	}
	if got := slices.Sorted(maps.Keys(some)); len(got) != 6 || path.Dir(got[0]) != "base" {
		t.Error(got)
	}
	got, err := kustomize.Build(t.Context(), some, kustomize.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(built(t, tree, "overlays/prod")), string(got)); diff != "" {
		t.Error(diff)
	}
}

// What is read to find them is bounded, and ends with what asks for it.
func TestFindEnds(t *testing.T) {
	for name, test := range map[string]struct {
		text, says string
		most       int
	}{
		"too many":  {"resources: [x]\n", "a: more than 1000 kustomizations are read for it", 1001},
		"too large": {"resources: [x]\n#" + strings.Repeat("x", 1<<19), "more than 32 MiB of kustomizations", 64},
	} {
		t.Run(name, func(t *testing.T) {
			reads := 0
			read := func(string) ([]byte, error) {
				reads++
				return []byte(test.text), nil
			}
			_, err := kustomize.Find(t.Context(), "a", read)
			if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), test.says) ||
				reads > test.most {
				t.Errorf("%d reads, %v, want %s", reads, err, test.says)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := kustomize.Find(ctx, "a", read); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

func FuzzFind(f *testing.F) {
	f.Add("a/b", []byte("resources: [../c, ../../d]"), []byte("components: [../..]"))
	f.Add(".", []byte("resources: [..]"), []byte("{}"))
	f.Fuzz(func(t *testing.T, dir string, a, c []byte) {
		parts, err := kustomize.Find(t.Context(), dir, func(name string) ([]byte, error) {
			if strings.HasPrefix(name, path.Clean(dir)) {
				return a, nil
			}
			return c, nil
		})
		if fault.CodeOf(err) == fault.InvalidArgument {
			return // too many
		}
		if err != nil || len(parts.Dirs) == 0 || (parts.Root == nil) != (len(parts.Dirs) == 1) {
			t.Errorf("%+v, %v", parts, err)
		}
	})
}
