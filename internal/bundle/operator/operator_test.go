package operator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/bundle/operator"
	"github.com/berthdev/berth/internal/goldentest"
)

// object reads an object of YAML.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = o.UnmarshalJSON(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
metadata: {name: caches.example.com}, spec: {group: example.com, names: {kind: Cache, plural: caches}}}`

// read reads a description that has to be right.
func read(t *testing.T, csv string, o operator.Options, others ...string) *operator.Operator {
	t.Helper()
	op, problems := tried(t, csv, o, others...)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return op
}

func tried(t *testing.T, csv string, o operator.Options, others ...string) (*operator.Operator, []string) {
	t.Helper()
	var beside []*unstructured.Unstructured
	for _, text := range others {
		beside = append(beside, object(t, text))
	}
	return operator.Read(object(t, csv), beside, o)
}

func TestRead(t *testing.T) {
	kubebuilder := file(t, "kubebuilder.yaml")
	service := "{apiVersion: v1, kind: Service, metadata: {name: caches-controller-manager-service}}"
	for golden, op := range map[string]*operator.Operator{
		"all.golden.yaml": read(t, kubebuilder, operator.Options{Package: "caches"}, definition, service),
		"single.golden.yaml": read(t, kubebuilder, operator.Options{Package: "caches", Watch: []string{"shop"}},
			definition),
		"api.golden.yaml": read(t, file(t, "apiserver.yaml"), operator.Options{Package: "metrics"}),
	} {
		var out bytes.Buffer
		for _, warning := range op.Warnings {
			out.WriteString("# " + warning + "\n")
		}
		all := []map[string]any{}
		for _, other := range op.Others {
			all = append(all, other.Object.Object)
		}
		for _, o := range append(all, op.Objects...) {
			text, err := yaml.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString("---\n" + string(text))
		}
		goldentest.Check(t, golden, out.String())
	}
}

func TestInstallModes(t *testing.T) {
	const own, single, multi, all = "OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"
	for name, test := range map[string]struct {
		supports []string
		watch    []string
		targets  string
		problem  string
	}{
		"all by itself":     {supports: []string{own, all}, targets: ""},
		"its own by itself": {supports: []string{own, single}, targets: "web-system"},
		"nothing by itself": {supports: []string{single, multi}, problem: "supports SingleNamespace, MultiNamespace"},
		"no mode":           {problem: "supports no install mode"},
		"its own":           {supports: []string{own, all}, watch: []string{"web-system"}, targets: "web-system"},
		"another":           {supports: []string{single}, watch: []string{"a"}, targets: "a"},
		"another, not taken": {
			supports: []string{own, all}, watch: []string{"a"}, problem: "SingleNamespace is not supported",
		},
		"several": {supports: []string{multi}, watch: []string{"b", "a", "b"}, targets: "a,b"},
		"several, not taken": {
			supports: []string{single}, watch: []string{"a", "b"}, problem: "MultiNamespace is not supported",
		},
		"several and its own": {
			supports: []string{own, multi}, watch: []string{"web-system", "a"}, targets: "a,web-system",
		},
		"several and its own, not taken": {
			supports: []string{multi}, watch: []string{"web-system", "a"}, problem: "OwnNamespace is not supported",
		},
		"no namespace": {supports: []string{single}, watch: []string{"A_b"}, problem: `invalid namespace "A_b"`},
	} {
		t.Run(name, func(t *testing.T) {
			var modes []string
			for _, mode := range test.supports {
				modes = append(modes, "{supported: true, type: "+mode+"}")
			}
			csv := strings.Replace(minimal, "installModes: []", "installModes: ["+strings.Join(modes, ", ")+"]", 1)
			op, problems := tried(t, csv, operator.Options{Package: "web", Watch: test.watch})
			if test.problem != "" {
				if len(problems) != 1 || !strings.Contains(problems[0], test.problem) {
					t.Errorf("problems %q, want %q", problems, test.problem)
				}
				return
			}
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			deployment := op.Objects[len(op.Objects)-1]
			targets, _, _ := unstructured.NestedString(deployment, "spec", "template", "metadata", "annotations",
				"olm.targetNamespaces")
			if targets != test.targets {
				t.Errorf("watches %q, want %q", targets, test.targets)
			}
			// What is namespaced is permitted in the operator's own namespace, and in those it watches.
			want := []string{""}
			if test.targets != "" {
				want = append(strings.Split(test.targets, ","), "web-system")
				slices.Sort(want)
				want = slices.Compact(want)
			}
			var got []string
			for _, o := range op.Objects {
				if kind, _ := o["kind"].(string); kind == "Role" || kind == "ClusterRole" {
					namespace, _, _ := unstructured.NestedString(o, "metadata", "namespace")
					got = append(got, namespace)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is beside the description is installed where the operator runs, whatever namespace it names.
func TestNamespaceOfOthers(t *testing.T) {
	csv := strings.Replace(minimal, "installModes: []", "installModes: [{type: AllNamespaces, supported: true}]", 1)
	op := read(t, csv, operator.Options{Package: "web"},
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, namespace: system}}",
		"{apiVersion: v1, kind: Service, metadata: {name: a, namespace: web-system}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}", definition)
	var got []string
	for _, other := range op.Others {
		got = append(got, other.Object.GetKind()+" "+other.Object.GetNamespace())
	}
	want := []string{
		"ServiceAccount web-system", "Service web-system", "ConfigMap ", "CustomResourceDefinition ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	warnings := []string{
		"ServiceAccount web is installed in namespace web-system, where the operator runs, and not in system",
	}
	if diff := cmp.Diff(warnings, op.Warnings); diff != "" {
		t.Error(diff)
	}
}

const minimal = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: web.v1}
spec:
  installModes: []
  install:
    strategy: deployment
    spec:
      permissions: [{serviceAccountName: web, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}]
      deployments:
      - {name: web, spec: {selector: {matchLabels: {app: web}}, template: {spec: {containers: [{name: web}]}}}}
`

func TestWebhooksRefused(t *testing.T) {
	for name, test := range map[string]struct {
		webhooks string
		want     []string
	}{
		"every group": {
			"{type: ValidatingAdmissionWebhook, generateName: v.kb.io, deploymentName: web, " +
				"rules: [{apiGroups: ['*']}]}",
			[]string{"ValidatingAdmissionWebhook v.kb.io: a rule has all groups"},
		},
		"those of the manager": {
			"{type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: web, " +
				"rules: [{apiGroups: [apps, operators.coreos.com]}]}",
			[]string{"MutatingAdmissionWebhook m.kb.io: a rule has the group operators.coreos.com"},
		},
		"webhooks": {
			"{type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: web, " +
				"rules: [{apiGroups: [admissionregistration.k8s.io], resources: [MutatingWebhookConfiguration]}]}",
			[]string{"MutatingAdmissionWebhook m.kb.io: a rule has the configurations of webhooks"},
		},
		"policies of admission": {
			"{type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: web, " +
				"rules: [{apiGroups: [admissionregistration.k8s.io], resources: [validatingadmissionpolicies]}]}", nil,
		},
		"another type": {
			"{type: Other, generateName: m.kb.io, deploymentName: web}",
			[]string{"Other m.kb.io: the type of a webhook is"},
		},
		"a deployment that is not there": {
			"{type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: gone}",
			[]string{`MutatingAdmissionWebhook m.kb.io: the ClusterServiceVersion has no deployment "gone"`},
		},
		"two of a name": {
			"{type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: web}, " +
				"{type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: web}",
			[]string{"there is more than one MutatingAdmissionWebhook for m.kb.io"},
		},
		"one name for two types": {
			"{type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: web}, " +
				"{type: ValidatingAdmissionWebhook, generateName: m.kb.io, deploymentName: web}", nil,
		},
		"one port to two places": {
			"{type: MutatingAdmissionWebhook, generateName: m.kb.io, deploymentName: web, targetPort: 9443}, " +
				"{type: ValidatingAdmissionWebhook, generateName: v.kb.io, deploymentName: web, targetPort: https}",
			[]string{"ValidatingAdmissionWebhook v.kb.io: port 443 of deployment \"web\" leads to 9443 and to https"},
		},
		"a definition of others": {
			"{type: ConversionWebhook, generateName: c.kb.io, deploymentName: web, conversionCRDs: [gone.example.com]}",
			[]string{"ConversionWebhook c.kb.io: the bundle does not have the CustomResourceDefinition gone"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			csv := strings.Replace(minimal, "installModes: []",
				"installModes: [{type: AllNamespaces, supported: true}]", 1)
			_, problems := tried(t, csv+"  webhookdefinitions: ["+test.webhooks+"]\n", operator.Options{Package: "web"})
			if !slices.EqualFunc(problems, test.want, strings.HasPrefix) {
				t.Error(cmp.Diff(test.want, problems))
			}
		})
	}
}

func TestDependency(t *testing.T) {
	for text, want := range map[string]string{
		"olm.package: {packageName: db, version: '>1.0.0'}":            "the package db in version >1.0.0",
		"olm.gvk: {group: example.com, version: v1, kind: Database}":   "the API example.com/v1 Database",
		"olm.label: {label: gpu}":                                      "a bundle with the label gpu",
		"other: x":                                                     "other x",
		"olm.constraint: {failureMessage: a GPU, cel: {rule: 'true'}}": "a constraint: a GPU",
		"olm.constraint: {any: {constraints: [{package: {packageName: a, versionRange: '1'}}, " +
			"{gvk: {group: example.com, version: v1, kind: B}}]}}": "the package a in version 1 or the API " +
			"example.com/v1 B",
	} {
		var dependencies map[string]any
		if err := yaml.Unmarshal([]byte(text), &dependencies); err != nil {
			t.Fatal(err)
		}
		for kind, value := range dependencies {
			if got := operator.Dependency(kind, value); got != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
	}
}
