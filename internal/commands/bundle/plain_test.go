package bundle_test

import (
	"os"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/commands/cmdtest"
)

func TestMain(m *testing.M) {
	kustomize.Worker(os.Exit)
	m.Run()
}

// Manifests are taken as they lie: one file, from wherever, a directory of them, a kustomization with what is above it.
func TestTemplateOfPlainSources(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
	there(t, map[string]string{
		"install.yaml":                          object,
		"flat/a.yaml":                           object,
		"flat/README.md":                        "# read: [me",
		"repo/base/a.yaml":                      object,
		"repo/base/kustomization.yaml":          "resources: [a.yaml]\n",
		"repo/overlays/prod/kustomization.yaml": "resources: [../../base]\nnamePrefix: prod-\n",
		"both/manifests/a.yaml":                 object,
		"both/kustomization.yaml":               "resources: [manifests/a.yaml]\nnamePrefix: built-\n",
	})
	for name, test := range map[string]struct {
		in   string
		args []string
		want string // the name of the object
		err  string
	}{
		"a file":                  {args: []string{"shop/install.yaml"}, want: "a"},
		"standard input":          {in: object, args: []string{"-"}, want: "a"},
		"a directory":             {args: []string{"shop/flat"}, want: "a"},
		"all of it":               {args: []string{"shop/both", "--format", "plain+v0"}, want: "a"},
		"a base":                  {args: []string{"shop/repo/base"}, want: "a"},
		"an overlay":              {args: []string{"shop/repo//overlays/prod"}, want: "prod-a"},
		"a kustomization by name": {args: []string{"shop/both", "--format", "kustomize"}, want: "built-a"},
		"an overlay alone": {
			args: []string{"shop/repo/overlays/prod"},
			err:  "kustomization.yaml: resources: ../../base is outside of the bundle",
		},
		"all of a repository": {
			args: []string{"shop/repo"},
			err:  "the bundle has a kustomization in base, overlays/prod, not at its root",
		},
		"what is ambiguous": {
			args: []string{"shop/both"},
			err:  "the format of the bundle is ambiguous: it has manifests/ and kustomization.yaml",
		},
		"values": {
			args: []string{"shop/flat", "--set", "a=b"}, err: "a bundle of format yaml takes no values",
		},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, stderr := cmdtest.Run(t, test.in, append([]string{"bundle", "template"}, test.args...)...)
			if test.err != "" {
				if status != 2 || !strings.Contains(stderr,
					test.err) || !strings.Contains(stderr, "hint:") || out != "" {
					t.Errorf("%d, %s", status, stderr)
				}
				return
			}
			if want := "---\n" + strings.Replace(object, "name: a", "name: "+test.want, 1); status != 0 || out != want {
				t.Errorf("%d, %s%s", status, out, stderr)
			}
		})
	}
}

// A kustomization is built when it is installed, and by no pass after that: a pass that could not build it in its time
// has nothing to say.
func TestAKustomizationIsBuiltOnce(t *testing.T) {
	server := installing(t, release{files: map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\n",
		"a.yaml":             "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n",
	}})
	if has(server) != "one" {
		t.Fatal(has(server))
	}
	for range 2 {
		cmdtest.Must(t, 0, "bundle", "reconcile", "--render-timeout", "1ns")
	}
	there(t, map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n",
		"a.yaml":             "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n",
	})
	cmdtest.Cluster(t, server.URL)
	status, _, stderr := cmdtest.Run(t, "", "bundle", "install", "shop", "shop", "--render-timeout", "1ns")
	if status == 0 {
		t.Errorf("it was built in no time: %s", stderr)
	}
}
