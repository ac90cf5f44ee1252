package chart

import (
	"errors"
	"io"
	"log"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	helmengine "helm.sh/helm/v3/pkg/engine"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/chart/budget"
)

// charts are those of testdata: of each its directory chart/, without values and with each of
// the files beside it.
func charts(t *testing.T, each func(t *testing.T, dir string, values []byte)) {
	t.Helper()
	dirs, err := filepath.Glob("testdata/*/chart")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no charts", err)
	}
	for _, dir := range dirs {
		name := filepath.Base(filepath.Dir(dir))
		t.Run(name, func(t *testing.T) { each(t, dir, nil) })
		files, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			values, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(path.Join(name, filepath.Base(file)), func(t *testing.T) { each(t, dir, values) })
		}
	}
}

// quiet keeps Helm's log out of the test's.
func quiet(t *testing.T) {
	t.Helper()
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
}

// helmRendered is what Helm makes of a chart.
type helmRendered struct {
	Texts    map[string]string
	Manifest []string
	Hooks    []string
	Values   map[string]any
	Notes    string
}

// byHelm renders as Helm's install action does.
func byHelm(t *testing.T, dir string, text []byte, o Options) (*helmRendered, error) {
	t.Helper()
	c, err := loader.LoadDir(dir)
	if err != nil {
		return nil, err
	}
	order(c)
	values, err := chartutil.ReadValues(text)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return nil, err
	}
	seen, err := o.Capabilities.forTemplates()
	if err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion(seen.KubeVersion)
	capabilities.APIVersions = chartutil.VersionSet(seen.APIVersions)
	capabilities.HelmVersion.Version = seen.HelmVersion.Version
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{
		Name: o.Release.Name, Namespace: o.Release.Namespace, Revision: max(o.Release.Revision, 1),
		IsUpgrade: o.Release.Upgrade, IsInstall: !o.Release.Upgrade,
	}, capabilities)
	if err != nil {
		return nil, err
	}
	r := &helmRendered{Values: all["Values"].(chartutil.Values)}
	if r.Texts, err = helmengine.Render(c, all); err != nil {
		return nil, err
	}
	others := map[string]string{}
	for name, text := range r.Texts {
		if name == path.Join(c.Name(), "templates", "NOTES.txt") {
			r.Notes = text
		}
		if !strings.HasSuffix(name, "NOTES.txt") {
			others[name] = text
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(others, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		h.Events = slices.DeleteFunc(h.Events, func(e helmrelease.HookEvent) bool { return e == helmrelease.HookTest })
		if len(h.Events) > 0 {
			r.Hooks = append(r.Hooks, describeHook(t, h))
		}
	}
	slices.Sort(r.Hooks)
	for _, m := range manifests {
		if m.Head.Kind != "" {
			r.Manifest = append(r.Manifest, "---\n# Source: "+m.Name+"\n"+m.Content+"\n")
		}
	}
	return r, nil
}

func describeHook(t *testing.T, h *helmrelease.Hook) string {
	t.Helper()
	plain := *h
	if len(plain.DeletePolicies) == 0 {
		plain.DeletePolicies = []helmrelease.HookDeletePolicy{helmrelease.HookBeforeHookCreation} // as when it runs
	}
	if len(plain.OutputLogPolicies) == 0 {
		plain.OutputLogPolicies = nil
	}
	text, err := yaml.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// options are those of the comparisons.
func options() map[string]Options {
	return map[string]Options{
		"install": {Release: Release{Name: "rel", Namespace: "space"}},
		"upgrade": {
			Release: Release{Name: "other", Namespace: "there", Revision: 7, Upgrade: true},
			Capabilities: Capabilities{
				Version: "v1.33.4",
				APIVersions: []string{
					"v1", "apps/v1", "monitoring.coreos.com/v1",
					"monitoring.coreos.com/v1/ServiceMonitor",
				},
			},
		},
	}
}

// TestAsHelm renders each chart with Helm and compares everything that comes out.
func TestAsHelm(t *testing.T) {
	quiet(t)
	charts(t, func(t *testing.T, dir string, values []byte) {
		for name, o := range options() {
			o.Values = values
			want, wantErr := byHelm(t, dir, values, o)
			got, err := Load(t.Context(), os.DirFS(dir), o)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%s: got %v, Helm %v", name, err, wantErr)
			}
			if err != nil {
				t.Logf("both refuse: %v; Helm: %v", err, wantErr)
				continue
			}
			if diff := cmp.Diff(strings.Join(want.Manifest, ""), got.Manifest); diff != "" {
				t.Errorf("%s: manifest: %s", name, diff)
			}
			compareObjects(t, want, got)
			var hooks []string
			for _, h := range got.Hooks {
				hooks = append(hooks, describeHook(t, &h.Hook))
			}
			slices.Sort(hooks)
			if diff := cmp.Diff(want.Hooks, hooks); diff != "" {
				t.Errorf("%s: hooks: %s", name, diff)
			}
			if diff := cmp.Diff(want.Notes, got.Notes); diff != "" {
				t.Errorf("%s: notes: %s", name, diff)
			}
		}
	})
}

// compareObjects compares the objects that are applied with those that Helm applies: what kubectl reads of the text
// that Helm hands over, for all objects together and for each hook.
func compareObjects(t *testing.T, want *helmRendered, got *Rendered) {
	t.Helper()
	helms, applied := kubectlReads(t, strings.Join(want.Manifest, "")), []map[string]any{}
	for _, o := range got.Objects[max(0, len(got.Objects)-len(helms)):] { // behind those of crds/
		applied = append(applied, o.Object)
	}
	if diff := cmp.Diff(helms, applied); diff != "" {
		t.Errorf("objects: %s", diff)
	}
	for _, h := range got.Hooks {
		if diff := cmp.Diff(kubectlReads(t, h.Manifest), []map[string]any{h.Object.Object}); diff != "" {
			t.Errorf("hook %s: %s", h.Name, diff)
		}
	}
}

// kubectlReads are the objects of a text as the libraries of kubectl read them.
func kubectlReads(t *testing.T, text string) []map[string]any {
	t.Helper()
	all := []map[string]any{}
	for decoder := k8syaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		var raw runtime.RawExtension
		switch err := decoder.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		case len(raw.Raw) == 0, string(raw.Raw) == "null":
			continue
		}
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(raw.Raw); err != nil {
			t.Fatal(err)
		}
		if !object.IsList() {
			all = append(all, object.Object)
			continue
		}
		list, err := object.ToList()
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			all = append(all, item.Object)
		}
	}
}

// TestValuesAsHelm compares the values that templates see, to the last one.
func TestValuesAsHelm(t *testing.T) {
	quiet(t)
	charts(t, func(t *testing.T, dir string, text []byte) {
		want, err := byHelm(t, dir, text, Options{})
		if err != nil {
			t.Skip(err)
		}
		memory := budget.New(budget.Limit)
		c, err := load(t.Context(), os.DirFS(dir), memory)
		if err != nil {
			t.Fatal(err)
		}
		r := &Rendered{Chart: c, budget: memory}
		given, _ := parseValues(text, memory)
		got, problems := r.fillIn(t.Context(), given)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if diff := cmp.Diff(want.Values, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestVersions keeps the versions that templates see in step with the libraries.
func TestVersions(t *testing.T) {
	modules, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	minor := strings.TrimSuffix(strings.TrimPrefix(kubernetesVersion, "v1."), ".0")
	for _, line := range []string{"helm.sh/helm/v3 " + helmLibrary + "\n", "k8s.io/client-go v0." + minor + "."} {
		if !strings.Contains(string(modules), line) {
			t.Errorf("go.mod does not have %s", line)
		}
	}
}

// A version that is typed is what Helm makes of it.
func TestParseVersion(t *testing.T) {
	for _, text := range []string{
		"1.34", "v1.34", "1.34.1", "v1.34.2-gke.100", "1.34+", "v1.34.2+k3s1", "1", "x", "v1.x", "1.34-rc.1", " 1.34",
	} {
		got, err := ParseVersion(text)
		want, wantErr := chartutil.ParseKubeVersion(text)
		if (err == nil) != (wantErr == nil) || err == nil && got != want.Version {
			t.Errorf("%q is %q, %v; for Helm %+v, %v", text, got, err, want, wantErr)
		}
	}
	if got, err := ParseVersion(""); got != "" || err != nil {
		t.Errorf("nothing is %q, %v", got, err)
	}
}
