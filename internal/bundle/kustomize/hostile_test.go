package kustomize_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/fault"
)

// What would be fetched, run or read elsewhere is refused by name, with all of it together.
func TestWhatIsNotBuilt(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"what would be fetched": {
			files: map[string]string{"kustomization.yaml": `
resources:
- https://example.com/a.yaml
- github.com/org/repo//deploy?ref=v1
- git@github.com:org/repo.git
- HTTP:x
- a/b?ref=main
components: [ssh://git@example.com/repo.git]
generators: [https://example.com/g.yaml]
transformers: [git::https://example.com/t]
validators: [https://example.com/v.yaml]
crds: [https://example.com/crd.json]
configurations: [https://example.com/c.yaml]
openapi: {path: https://example.com/o.json}
patches: [{path: https://example.com/p.yaml}]
patchesJson6902: [{path: https://example.com/j.yaml, target: {kind: Pod, name: a}}]
patchesStrategicMerge: [https://example.com/s.yaml]
replacements: [{path: https://example.com/r.yaml}]
configMapGenerator: [{name: a, files: [k=https://example.com/f], envs: [https://example.com/e]}]
secretGenerator: [{name: a, env: https://example.com/e}]
`},
			want: []string{
				"crds: https://example.com/crd.json", "configurations: https://example.com/c.yaml",
				"openapi: https://example.com/o.json", "patches: https://example.com/p.yaml",
				"patchesJson6902: https://example.com/j.yaml", "patchesStrategicMerge: https://example.com/s.yaml",
				"replacements: https://example.com/r.yaml", "configMapGenerator: https://example.com/f",
				"configMapGenerator: https://example.com/e", "secretGenerator: https://example.com/e",
				"resources: https://example.com/a.yaml", "resources: github.com/org/repo//deploy",
				"resources: github.com:org/repo.git", "resources: HTTP:x", "resources: a/b",
				"components: ssh://example.com/repo.git", "generators: https://example.com/g.yaml",
				"transformers: git::https://example.com/t", "validators: https://example.com/v.yaml",
			},
		},
		"what is elsewhere on the machine": {
			files: map[string]string{
				"kustomization.yaml": "resources: [/etc/x, ../y, a]\nconfigMapGenerator: [{name: a, files: " +
					"[/etc/passwd, k=../../p]}]\n",
				"a/kustomization.yaml": "resources: [../../b]\n",
			},
			want: []string{
				"kustomization.yaml: configMapGenerator: /etc/passwd is outside of the bundle",
				"kustomization.yaml: configMapGenerator: ../../p is outside of the bundle",
				"kustomization.yaml: resources: /etc/x is outside of the bundle",
				"kustomization.yaml: resources: ../y is outside of the bundle",
				"a/kustomization.yaml: resources: ../../b is outside of the bundle",
			},
		},
		"what is not there": {
			files: map[string]string{
				"kustomization.yaml": "resources: [a.yaml, empty, b]\npatches: [{path: p.yaml}, {path: empty}]\n",
				"empty/x.txt":        "", "b/kustomization.yml": "components: [c]\n",
			},
			want: []string{
				"kustomization.yaml: patches: p.yaml is not a file of the bundle",
				"kustomization.yaml: patches: empty is not a file of the bundle",
				"kustomization.yaml: resources: a.yaml is not in the bundle",
				"kustomization.yaml: resources: empty is a directory without a kustomization",
				"b/kustomization.yml: components: c is not in the bundle",
			},
		},
		"charts": {
			files: map[string]string{
				"kustomization.yaml":   "resources: [a]\nhelmCharts: [{name: x, repo: https://example.com}]\n",
				"a/kustomization.yaml": "helmChartInflationGenerator: [{chartName: x}]\n",
			},
			want: []string{
				"kustomization.yaml: helmCharts: no chart is rendered for a kustomization: install it as a bundle " +
					"of its " +
					"own, or put what it renders into the bundle",
				"a/kustomization.yaml: helmCharts: no chart is rendered for a kustomization: install it as a bundle " +
					"of its " +
					"own, or put what it renders into the bundle",
			},
		},
		"cycles": {
			files: map[string]string{
				"kustomization.yaml": "resources: [a]\n", "a/kustomization.yaml": "resources: [../b, .]\n",
				"b/kustomization.yaml": "resources: [../a, ..]\n",
			},
			want: []string{
				"b/kustomization.yaml: resources: ../a leads back to where it comes from",
				"b/kustomization.yaml: resources: .. leads back to where it comes from",
				"a/kustomization.yaml: resources: . leads back to where it comes from",
			},
		},
		"no kustomization": {
			files: map[string]string{"a.yaml": service},
			want: []string{"the kustomization cannot be built: there is no kustomization.yaml at the root of the " +
				"bundle"},
		},
		"unknown fields": {
			files: map[string]string{"kustomization.yaml": "resource: [a.yaml]\n"},
			want:  []string{`the kustomization cannot be built: kustomization.yaml: json: unknown field "resource"`},
		},
		"a bomb of aliases": {
			files: map[string]string{"kustomization.yaml": "a: &a " + strings.Repeat("x", 1<<10) + "\nb: &b [" +
				strings.Repeat("*a,", 100) + "]\nc: [" + strings.Repeat("*b,", 100) + "]\n"},
			want: []string{"the kustomization cannot be built: kustomization.yaml: larger than 1 MiB with its " +
				"aliases expanded"},
		},
		"a large file": {
			files: map[string]string{"kustomization.yaml": "#" + strings.Repeat("x", 1<<20)},
			want:  []string{"the kustomization cannot be built: kustomization.yaml: larger than 1 MiB"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := kustomize.Build(t.Context(), content(test.files), kustomize.Limits{})
			got := problems(t, err)
			if name == "what would be fetched" {
				for i := range test.want {
					test.want[i] = "kustomization.yaml: " + test.want[i] + " would be fetched, and nothing is: " +
						"vendor it"
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" || fault.From(err).Hint == "" {
				t.Error(diff)
			}
		})
	}
}

// What kustomize itself finds is said in its words; what a check before it does not see has neither network, nor files,
// nor programs.
func TestWhatKustomizeRefuses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 1)
	go func() {
		if c, err := listener.Accept(); err == nil {
			asked <- struct{}{}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	url := "http://" + listener.Addr().String()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		files map[string]string
		says  string
	}{
		"a patch of nothing": {
			map[string]string{"kustomization.yaml": "resources: [a.yaml]\npatches: [{patch: '{kind: Pod, metadata: " +
				"{name: x}}'}]\n"},
			"no resource matches strategic merge patch",
		},
		"a file above a kustomization": {
			map[string]string{"kustomization.yaml": "resources: [b]\n", "b/kustomization.yaml": "resources: " +
				"[../a.yaml]\n"},
			"file 'a.yaml' is not in or below 'b'",
		},
		"a URL in the configuration of what is built in": {
			map[string]string{
				"kustomization.yaml": "resources: [a.yaml]\ntransformers: [t.yaml]\n",
				"t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: " +
					"" + url + "/p.yaml\n",
			},
			"/p.yaml would be fetched, and nothing is",
		},
		"one that is put together": {
			map[string]string{
				"kustomization.yaml": "resources: [a.yaml]\ntransformers: [t]\n",
				"t/kustomization.yaml": "resources: [t.yaml]\npatches: [{target: {kind: PatchTransformer}, patch: " +
					"'- {op: replace, " +
					"path: /path, value: \"" + url + "/p.yaml\"}'}]\n",
				"t/t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: x\n",
			},
			"/p.yaml would be fetched, and nothing is",
		},
		"a file of the machine, in the configuration of what is built in": {
			map[string]string{
				"kustomization.yaml": "generators: [g.yaml]\nresources: [a.yaml]\n",
				"g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nfiles: " +
					"[" + secret + "]\n",
			},
			"/secret: file does not exist",
		},
		"a program": {
			map[string]string{
				"kustomization.yaml": "resources: [a.yaml]\ngenerators: [g.yaml]\n",
				"g.yaml": "apiVersion: example.com/v1\nkind: Gen\nmetadata: {name: g, annotations: " +
					"{config.kubernetes.io/function: " +
					"'exec: {path: /bin/true}'}}\n",
			},
			"external plugins disabled",
		},
		"a chart of what is built in": {
			map[string]string{
				"kustomization.yaml": "generators: [g.yaml]\n",
				"g.yaml": "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: g}\nname: x\n" +
					"repo: " + url + "\n",
			},
			"must specify --enable-helm",
		},
		"a file that is no YAML, by the name of a repository": {
			map[string]string{"kustomization.yaml": "resources: [repo.git/a]\n", "repo.git/a": "a: ["},
			"did not find expected node content",
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.files["a.yaml"] = service
			got, err := kustomize.Build(t.Context(), content(test.files), kustomize.Limits{})
			if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), test.says) ||
				strings.Contains(err.Error(), "/bundle") {
				t.Errorf("%s, %v, want %s", got, err, test.says)
			}
		})
	}
	select {
	case <-asked:
		t.Error("something was fetched")
	default:
	}
}
