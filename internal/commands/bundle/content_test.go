package bundle_test

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/schematest"
	"github.com/berthdev/berth/internal/terminal"
)

// shop is a bundle of plain manifests.
func shop() map[string]string {
	return map[string]string{
		"manifests/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\n" +
			"data: {greeting: \"{{ hello }}\"}\n",
		"manifests/all.yaml": "apiVersion: v1\nkind: List\nitems:\n" +
			"- {apiVersion: v1, kind: Service, metadata: {name: shop}}\n" +
			"- {apiVersion: v1, kind: ServiceAccount, metadata: {name: shop}}\n",
	}
}

// there writes files below a new directory, which becomes the current one, and where
// bundles are kept.
func there(t *testing.T, files map[string]string) {
	t.Helper()
	cmdtest.Offline(t)
	t.Chdir(t.TempDir())
	for name, text := range files {
		path := filepath.Join("shop", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// archive is the files as a tar file, which any program could have made.
func archive(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o777, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestValidate(t *testing.T) {
	home, _ := os.Getwd()
	there(t, shop())
	text, _ := cmdtest.Must(t, 0, "bundle", "validate", "shop")
	document, _ := cmdtest.Must(t, 0, "bundle", "validate", "shop", "-o", "json")
	digest, _ := cmdtest.Must(t, 0, "bundle", "validate", "./shop", "-o", "name")
	status, packed, stderr := cmdtest.Run(t, archive(t, shop()), "bundle", "validate", "-", "-o", "name")
	if status != 0 || packed != digest {
		t.Errorf("%d, an archive of it has the digest %s, want %s\n%s", status, packed, digest, stderr)
	}
	t.Chdir(home)
	schematest.Validate(t, []byte(document))
	goldentest.Check(t, "validate.txt", text)
}

func TestValidateSaysAllProblems(t *testing.T) {
	there(t, map[string]string{
		"manifests/a.yaml": "kind: [", "manifests/deep/b.yaml": "x",
		"manifests/c.yaml": "kind: ConfigMap\n",
	})
	_, stderr := cmdtest.Must(t, 2, "bundle", "validate", "shop")
	for _, problem := range []string{"manifests/a.yaml:1: ", "manifests/deep/: ", "manifests/c.yaml:1: "} {
		if !strings.Contains(stderr, "- "+problem) {
			t.Errorf("%s is missing in\n%s", problem, stderr)
		}
	}
}

// The bundle of an operator is refused as plain manifests, by name, and is taken for an operator if no format is named.
func TestValidateOfAnOperatorAsPlain(t *testing.T) {
	there(t, map[string]string{
		"metadata/annotations.yaml": "annotations: {operators.operatorframework.io.bundle.package.v1: web}\n",
		"manifests/web.yaml": "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n" +
			"metadata: {name: web.v1}\nspec:\n  version: 1.2.3\n  install: {strategy: deployment, spec: {}}\n" +
			"  installModes: [{type: AllNamespaces, supported: true}]\n",
	})
	for _, verb := range []string{"validate", "template"} {
		_, stderr := cmdtest.Must(t, 2, "bundle", verb, "shop", "--format", "plain+v0")
		if !strings.Contains(stderr, "registry+v1, not plain+v0: ClusterServiceVersion web.v1 in manifests/web.yaml") ||
			!strings.Contains(stderr, "leave out --format") {
			t.Error(stderr)
		}
		cmdtest.Must(t, 0, "bundle", verb, "shop")
	}
}

// A terminal is not waited for: nobody types a bundle.
func TestStandardInputIsATerminal(t *testing.T) {
	cmdtest.Offline(t)
	streams, b := terminal.Test("", time.Now())
	streams.In.TTY = true
	status := commands.Main([]string{"bundle", "validate", "-"}, streams, func(int) { t.Error("berth exited at once") })
	if status != 2 || !strings.Contains(b.Err.String(), "standard input is a terminal, not a bundle") ||
		!strings.Contains(b.Err.String(), "hint:") {
		t.Errorf("%d, %s", status, b.Err.String())
	}
}

func TestUnpack(t *testing.T) {
	there(t, shop())
	status, _, stderr := cmdtest.Run(t, archive(t, shop()), "bundle", "unpack", "-", "a/b")
	if status != 0 {
		t.Fatal(stderr)
	}
	for name, text := range shop() {
		if got, err := os.ReadFile(filepath.Join("a", "b", name)); err != nil || string(got) != text {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	_, stderr = cmdtest.Must(t, 6, "bundle", "unpack", "shop", "a/b")
	if !strings.Contains(stderr, "a/b is not empty") {
		t.Error(stderr)
	}
	hostile := archive(t, map[string]string{"../../escape": "x"})
	if status, _, stderr := cmdtest.Run(t, hostile, "bundle", "unpack", "-", "hostile"); status != 2 ||
		!strings.Contains(stderr, "escape") {
		t.Errorf("%d, %s", status, stderr)
	}
	if left, err := filepath.Glob(".berth-*"); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
	if _, err := os.Stat("hostile"); !os.IsNotExist(err) {
		t.Errorf("something was unpacked: %v", err)
	}
}

// What validate refuses, unpack refuses with the same words, and writes nothing; what only
// values decide, it does not ask.
func TestUnpackOfWhatIsInvalid(t *testing.T) {
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	metadata := "apiVersion: v2\nname: c\nversion: 1.0.0\n"
	for name, files := range map[string]map[string]string{
		"no format":      {"a.txt": object},
		"nothing":        {},
		"no kind":        {"manifests/a.yaml": "apiVersion: v1\nmetadata: {name: a}\n"},
		"the same twice": {"manifests/a.yaml": object, "manifests/b.yaml": object},
		"no version":     {"Chart.yaml": "apiVersion: v2\nname: c\n", "templates/a.yaml": object},
		"no dependency": {"Chart.yaml": metadata +
			"dependencies: [{name: d, version: 1.x.x, repository: file://../d}]\n"},
		"another cluster":  {"Chart.yaml": metadata + "kubeVersion: \">= 99\"\n"},
		"no package":       {"metadata/annotations.yaml": "annotations: {}\n", "manifests/a.yaml": object},
		"several charts":   {"a/Chart.yaml": metadata, "b/Chart.yaml": metadata},
		"ambiguous format": {"c/Chart.yaml": metadata, "manifests/a.yaml": object},
	} {
		t.Run(name, func(t *testing.T) {
			there(t, map[string]string{})
			status, _, refusal := cmdtest.Run(t, archive(t, files), "bundle", "validate", "-")
			unpacked, _, stderr := cmdtest.Run(t, archive(t, files), "bundle", "unpack", "-", "out")
			if status != 2 || unpacked != 2 || stderr != refusal {
				t.Errorf("validate: %d, %s\nunpack: %d, %s", status, refusal, unpacked, stderr)
			}
			if _, err := os.Stat("out"); !os.IsNotExist(err) {
				t.Errorf("something was unpacked: %v", err)
			}
		})
	}
	t.Run("takes values", func(t *testing.T) {
		there(t, map[string]string{
			"Chart.yaml":       metadata,
			"templates/a.yaml": "{{ required \"a host\" .Values.host }}",
		})
		cmdtest.Must(t, 2, "bundle", "validate", "shop")
		cmdtest.Must(t, 0, "bundle", "unpack", "shop", "out")
	})
}

// The second argument of install and diff can be a file, and there is no third.
func TestCompleteSource(t *testing.T) {
	cmdtest.Offline(t)
	for line, want := range map[string]string{
		"install shop ": ":0\n", "diff shop ": ":0\n",
		"install shop ./shop ": ":4\n", "install shop ./shop --source-secret ": ":4\n",
	} {
		args := append([]string{"__complete", "bundle"}, strings.Split(line, " ")...)
		if _, stdout, _ := cmdtest.Run(t, "", args...); stdout != want {
			t.Errorf("%s: %q, want %q", line, stdout, want)
		}
	}
}

// What a chart is rendered to is printed as `helm template` prints it.
func TestTemplate(t *testing.T) {
	there(t, map[string]string{
		"Chart.yaml": "{apiVersion: v2, name: shop, version: 1.2.3}", "values.yaml": "image: {tag: v1}",
		"templates/a.yaml": "kind: ConfigMap\napiVersion: v1\n" +
			"metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\n" +
			"data:\n  tag: {{ .Values.image.tag }}\n  kube: {{ .Capabilities.KubeVersion.Version }}\n" +
			"  has: {{ .Capabilities.APIVersions.Has \"a/v1\" | quote }}\n",
		"templates/hook.yaml": "kind: Job\napiVersion: batch/v1\n" +
			"metadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n",
		"crds/a.yaml": "{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, metadata: " +
			"{name: as.b.c}}\n",
	})
	text, stderr := cmdtest.Must(t, 0, "bundle", "template", "shop", "--set", "image.tag=v2", "--release-name", "r",
		"-n", "team", "--kube-version", "1.31.2-gke.100", "--api-versions", "a/v1", "--include-crds")
	want := `---
# Source: shop/crds/a.yaml
{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, metadata: {name: as.b.c}}

---
# Source: shop/templates/a.yaml
kind: ConfigMap
apiVersion: v1
metadata: {name: r, namespace: team}
data:
  tag: v2
  kube: v1.31.2
  has: "true"
---
# Source: shop/templates/hook.yaml
kind: Job
apiVersion: batch/v1
metadata: {name: hook, annotations: {helm.sh/hook: pre-install}}
`
	if text != want || stderr != "" {
		t.Errorf("%s\n%s", text, stderr)
	}
}

// Plain manifests are printed as they are applied.
func TestTemplateOfManifests(t *testing.T) {
	there(t, shop())
	text, _ := cmdtest.Must(t, 0, "bundle", "template", "shop")
	if strings.Count(text, "---\n") != 3 || !strings.Contains(text, "greeting: '{{ hello }}'") {
		t.Error(text)
	}
}

// What is in the bundle that is installed is written as it was sent, on any machine, and over nothing.
func TestContent(t *testing.T) {
	installing(t, plainly("one"), charted("two"))
	elsewhere(t)
	out, _ := cmdtest.Must(t, 0, "bundle", "content", "shop", "a/b", "-o", "json")
	if d := decoded[v1.BundleContent](t, out); d.Format != "helm" || d.Directory != "a/b" || d.Files != 2 ||
		d.Source != "an upload" {
		t.Errorf("%+v", d)
	}
	for name, text := range charted("").files {
		if got, err := os.ReadFile(filepath.Join("a", "b", name)); err != nil || string(got) != text {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	_, stderr := cmdtest.Must(t, 6, "bundle", "content", "shop", "a/b")
	if !strings.Contains(stderr, "a/b is not empty") {
		t.Error(stderr)
	}
	cmdtest.Must(t, 7, "bundle", "content", "nosuch", "c")
	if _, err := os.Stat("c"); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

// What a chart depends on and lacks is a part of it wherever it is read.
func TestDependenciesOfAChart(t *testing.T) {
	there(t, map[string]string{
		"Chart.yaml": "{apiVersion: v2, name: app, version: 1.0.0, dependencies: [{name: lib, version: 0.x, " +
			"repository: 'file://parts/lib'}]}",
		"parts/lib/Chart.yaml":       "{apiVersion: v2, name: lib, version: 0.1.0}",
		"parts/lib/templates/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: of-lib}}",
	})
	cmdtest.Must(t, 0, "bundle", "validate", "shop")
	if stdout, _ := cmdtest.Must(t, 0, "bundle", "template", "shop"); !strings.Contains(stdout,
		"# Source: app/charts/lib/templates/a.yaml\n{apiVersion: v1, kind: ConfigMap, metadata: {name: of-lib}}") {
		t.Error(stdout)
	}
	cmdtest.Must(t, 0, "bundle", "unpack", "shop", "whole")
	if _, err := os.Stat(filepath.Join("whole", "charts", "lib-0.1.0", "Chart.yaml")); err != nil {
		t.Error(err)
	}
}
