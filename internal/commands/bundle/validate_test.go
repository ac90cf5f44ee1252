package bundle_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/yaml"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/schematest"
)

// A cluster that the command line names checks what is in a bundle, says all that it refuses, and keeps nothing; one
// that it does not name is not asked.
func TestValidateOnACluster(t *testing.T) {
	var requests atomic.Int64
	server := kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			if r.Method == http.MethodPost && r.URL.Query().Get("fieldValidation") != "Strict" {
				t.Errorf("%s takes any field", r.URL)
			}
			cluster(next).ServeHTTP(w, r)
		})
	})
	there(t, nil)
	cmdtest.Cluster(t, server.URL)
	chart := filepath.Join(t.TempDir(), "chart")
	for name, text := range map[string]string{
		"Chart.yaml": "{apiVersion: v2, name: web, version: 1.2.3}",
		"templates/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ .Release.Name }}}, data: " +
			"{there: '{{ .Capabilities.APIVersions.Has \"v1/Nothing\" }}'}}",
		"templates/b.yaml": "{{ range .Values.also }}---\n{apiVersion: v1, kind: ConfigMap, metadata: " +
			"{name: a{{ . }}, labels: {name: refused}}}\n{{ end }}",
	} {
		path := filepath.Join(chart, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kubeconfig := os.Getenv("KUBECONFIG")
	for name, test := range map[string]struct {
		args   string
		status int
		says   []string // on standard error
		asks   bool
	}{
		"nobody":                  {args: ""},
		"nobody, what is refused": {args: "--set also={1,2}"},
		"that of a kubeconfig":    {args: "--kubeconfig " + kubeconfig, asks: true},
		"the current one":         {args: "--dry-run=server", asks: true},
		"one that refuses": {
			args: "--dry-run=server --set also={1,2}", status: 3, asks: true,
			says: []string{
				"2 objects are refused", "configmaps a1 in namespace team", "configmaps a2 in namespace team",
			},
		},
		"in another namespace": {args: "--dry-run=server -n other --set also={1}", asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			before := requests.Load()
			status, stdout, stderr := cmdtest.Run(t, "",
				append([]string{"bundle", "validate", chart}, strings.Fields(test.args)...)...)
			if status != test.status || status == 0 && !strings.Contains(stdout, "ConfigMap") {
				t.Errorf("%d, %s%s", status, stdout, stderr)
			}
			for _, text := range test.says {
				if !strings.Contains(stderr, text) {
					t.Errorf("%q is not in %s", text, stderr)
				}
			}
			if asked := requests.Load() > before; asked != test.asks {
				t.Errorf("the cluster was asked: %v", asked)
			}
			if there := append(server.Names("configmaps"), server.Names("bundles")...); len(there) > 0 {
				t.Errorf("%q was written", there)
			}
		})
	}
}

// crontabs is a cluster that has the kind CronTab, and the kind Sum of another API server.
func crontabs(next http.Handler) http.Handler {
	return cluster(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/example.com/v1" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "example.com/v1",
			"resources": [{"name": "crontabs", "kind": "CronTab", "namespaced": true},
			{"name": "sums", "kind": "Sum", "namespaced": true}]}`)
	}))
}

const (
	crontabDefinition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, ` +
		`metadata: {name: crontabs.example.com}, spec: {group: example.com, scope: Namespaced, ` +
		`names: {kind: CronTab, plural: crontabs}, versions: [{name: v1, served: true, storage: true, ` +
		`schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: ` +
		`{tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}}}}}}}]}}` + "\n---\n"
	aCrontab = "{apiVersion: example.com/v1, kind: CronTab, metadata: {name: a}, spec: {SPEC}}\n---\n"
)

// What could not be checked is named with the reason, whether a cluster is asked or not; what the API server would
// refuse of a custom resource at the next upgrade is found, as the definition in the bundle or the cluster says it.
func TestValidateNamesWhatItCouldNotCheck(t *testing.T) {
	object := func(spec string) string { return strings.Replace(aCrontab, "SPEC", spec, 1) }
	const (
		configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n"
		sum       = "{apiVersion: example.com/v1, kind: Sum, metadata: {name: a}}\n---\n"
		unknown   = "customresourcedefinition/crontabs.example.com: berth does not know the fields of kind " +
			"CustomResourceDefinition of apiextensions.k8s.io/v1"
		twice = `CronTab a: spec.tags has "x" more than once, which its definition does not let`
	)
	for name, test := range map[string]struct {
		content   string
		cluster   bool // is asked
		unchecked []string
		refused   string
		warned    string
	}{
		"what Kubernetes has": {content: configMap},
		"a kind of others": {
			content:   configMap + object(""),
			unchecked: []string{"crontab/a: the definition of its kind is not in the bundle"},
		},
		"a kind of the bundle":  {content: crontabDefinition + object("tags: [x]"), unchecked: []string{unknown}},
		"refused by the bundle": {content: crontabDefinition + object("tags: [x, x]"), refused: twice},
		"a field that is not": {
			content: crontabDefinition + object("tag: x"), unchecked: []string{unknown},
			warned: "spec.tag is not a field",
		},
		"a kind of the cluster":    {content: object("tags: [x]"), cluster: true},
		"refused by the cluster's": {content: object("tags: [x, x]"), cluster: true, refused: twice},
		"a field, on the cluster": {
			content: object("tag: x"), cluster: true,
			refused: "CronTab a: spec.tag is not a field in the definition that the cluster has",
		},
		"of the metadata, on the cluster": {
			content: strings.Replace(object(""), "name: a", "name: a, lable: b", 1), cluster: true,
			warned: "metadata.lable is not a field",
		},
		"a kind of another server": {content: sum, cluster: true},
		"what comes with its namespace": {
			content: "{apiVersion: v1, kind: Namespace, metadata: {name: new}}\n---\n" +
				"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: new}}\n",
			cluster: true,
			unchecked: []string{
				"configmap/a: its namespace would be created with it, and the API server does not know that yet",
			},
		},
		"a kind that is nowhere": {
			content: "{apiVersion: example.org/v1, kind: Web, metadata: {name: a}}", cluster: true,
			refused: "the cluster does not have these kinds: example.org/v1, Kind=Web",
		},
	} {
		t.Run(name, func(t *testing.T) {
			home, _ := os.Getwd()
			server := kubetest.Start(t, crontabs)
			there(t, map[string]string{"manifests/a.yaml": test.content})
			cmdtest.Cluster(t, server.URL)
			definition := &kubetest.Object{}
			text := strings.TrimSuffix(crontabDefinition, "---\n")
			if err := yaml.Unmarshal([]byte(text), &definition.Object); err != nil {
				t.Fatal(err)
			}
			server.Put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.example.com", definition)
			args := []string{"bundle", "validate", "shop", "-o", "json"}
			if test.cluster {
				args = append(args, "--dry-run=server")
			}
			if test.refused != "" {
				status, _, stderr := cmdtest.Run(t, "", slices.Replace(args, 3, 5)...)
				if status == 0 || !strings.Contains(stderr, test.refused) {
					t.Errorf("%d, %s", status, stderr)
				}
				return
			}
			out, _ := cmdtest.Must(t, 0, args...)
			t.Chdir(home)
			schematest.Validate(t, []byte(out))
			d := decoded[v1.BundleContent](t, out)
			var unchecked []string
			for _, u := range d.Unchecked {
				unchecked = append(unchecked, u.Object+": "+u.Reason)
			}
			if !slices.Equal(unchecked, test.unchecked) {
				t.Errorf("not checked: %q", unchecked)
			}
			got := strings.Join(d.Warnings, "; ")
			if !strings.Contains(got, test.warned) || (got == "") != (test.warned == "") {
				t.Errorf("warns of %q", got)
			}
		})
	}
}

// An installation refuses what it could never upgrade before it writes anything, and so what would lack a field once
// the cluster's definition has it.
func TestInstallOfWhatNoUpgradeCouldApply(t *testing.T) {
	const at = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.example.com"
	for name, test := range map[string]struct {
		content string
		defined string // on the cluster
		spec    string
		refused string
	}{
		"twice, as the bundle defines it": {
			content: crontabDefinition, spec: "tags: [x, x]",
			refused: "more than once",
		},
		"twice, as the cluster defines it": {
			defined: crontabDefinition, spec: "tags: [x, x]", refused: "more than once",
		},
		"a field that the cluster's lacks": {
			defined: crontabDefinition, spec: "tag: x", refused: "spec.tag is not a field in the definition",
		},
		"a field that the cluster's has then": {
			defined: strings.Replace(crontabDefinition, "tags: {", "tag: {type: string}, tags: {", 1), spec: "tag: x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := kubetest.Start(t, crontabs)
			there(t, map[string]string{
				"manifests/a.yaml": test.content + strings.Replace(aCrontab, "SPEC", test.spec, 1),
			})
			cmdtest.Cluster(t, server.URL)
			if test.defined != "" {
				definition := &kubetest.Object{}
				text := strings.TrimSuffix(test.defined, "---\n")
				if err := yaml.Unmarshal([]byte(text), &definition.Object); err != nil {
					t.Fatal(err)
				}
				server.Put(at, definition)
			}
			status, _, stderr := cmdtest.Run(t, "", "bundle", "install", "shop", "shop", "--no-wait")
			if test.refused == "" {
				got := server.Names("crontabs")
				if status != 0 || len(got) != 1 || encoded(t, server.Get(got[0]).Object["spec"]) != `{"tag":"x"}` {
					t.Errorf("%d, %s%q", status, stderr, got)
				}
				return
			}
			if status != 2 || !strings.Contains(stderr, test.refused) {
				t.Errorf("%d, %s", status, stderr)
			}
			if there := slices.Concat(server.Names("bundleinstances"), server.Names("crontabs")); len(there) > 0 {
				t.Errorf("%q was written", there)
			}
		})
	}
}

// A definition that a chart and its subchart have is one: what is said of it is said once.
func TestValidateOfADefinitionThatIsThereTwice(t *testing.T) {
	definition := strings.TrimSuffix(crontabDefinition, "---\n")
	there(t, map[string]string{
		"Chart.yaml":             "{apiVersion: v2, name: web, version: 1.0.0}",
		"crds/a.yaml":            definition,
		"charts/ops/Chart.yaml":  "{apiVersion: v2, name: ops, version: 1.0.0}",
		"charts/ops/crds/a.yaml": definition,
	})
	out, _ := cmdtest.Must(t, 0, "bundle", "validate", "shop", "-o", "json")
	c := decoded[v1.BundleContent](t, out)
	if len(c.Unchecked) != 1 || c.Objects["CustomResourceDefinition"] != 1 {
		t.Errorf("%+v", c)
	}
}
