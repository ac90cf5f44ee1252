package format_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/goldentest"
)

const (
	annotations = "annotations:\n  operators.operatorframework.io.bundle.package.v1: web\n"
	operatorCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: web.v1
  annotations: {a: of the version, b: of both}
spec:
  version: 1.2.3
  installModes: [{type: OwnNamespace, supported: false}, {type: AllNamespaces, supported: true}]
  install:
    strategy: deployment
    spec:
      permissions:
      - serviceAccountName: web
        rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
      - rules: [{apiGroups: [""], resources: [pods], verbs: [list]}]
      clusterPermissions:
      - serviceAccountName: web
        rules: [{nonResourceURLs: [/metrics], verbs: [get]}]
      deployments:
      - name: web
        label: {app: web}
        spec:
          replicas: 3
          template:
            metadata: {annotations: {b: of the pod, c: 'literal {{ x }}'}}
            spec: {serviceAccountName: web, priority: 9007199254740993}
`
)

// published loads the bundle that a project published.
func published(t *testing.T) *format.Package {
	t.Helper()
	fsys := os.DirFS("../../../test/testdata/bundles/prometheus-operator-0.47.0")
	if got, err := format.Recognize(fsys); err != nil || got != format.Registry {
		t.Fatalf("recognized %s, %v", got, err)
	}
	pkg, err := format.Load(t.Context(), fsys, format.Options{})
	if err != nil {
		t.Fatal(err, problems(t, err))
	}
	return pkg
}

func TestPublishedBundle(t *testing.T) {
	pkg := published(t)
	if pkg.Name != "prometheus" || pkg.Version != "0.47.0" || pkg.Namespace != "prometheus-system" ||
		len(pkg.Warnings) > 0 {
		t.Errorf("package %s %s in %s, warnings %q", pkg.Name, pkg.Version, pkg.Namespace, pkg.Warnings)
	}
	var text strings.Builder
	for _, object := range pkg.Objects {
		// The definitions are long, and as they are written.
		if object.GetKind() == "CustomResourceDefinition" {
			text.WriteString("---\n# CustomResourceDefinition " + object.GetName() + "\n")
			continue
		}
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(document))
	}
	goldentest.Check(t, "prometheus-operator.yaml", text.String())
}

// names are the kinds and names of objects.
func names(objects []*unstructured.Unstructured) (names []string) {
	for _, object := range objects {
		names = append(names, strings.Trim(object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName(), "/"))
	}
	return names
}

func TestRegistry(t *testing.T) {
	load := func(csv string) *format.Package {
		pkg, err := format.Load(t.Context(), bundle(map[string]string{
			"metadata/annotations.yaml": annotations, "manifests/web.csv.yaml": csv, "manifests/cm.yaml": configMap,
			"metadata/dependencies.yaml": "dependencies:\n- {type: olm.package, value: {packageName: " +
				"db, version: 1}}\n",
		}), format.Options{})
		if err != nil {
			t.Fatal(err, problems(t, err))
		}
		return pkg
	}
	pkg := load(operatorCSV)
	want := []string{
		"Namespace /web-system", "ConfigMap /a", "ServiceAccount web-system/web",
		"ClusterRole /web.v1-web-849b6da1af", "ClusterRoleBinding /web.v1-web-849b6da1af",
		"ClusterRole /web.v1-web-28c355a5eb", "ClusterRoleBinding /web.v1-web-28c355a5eb",
		"ClusterRole /web.v1-default-4d62f425f8", "ClusterRoleBinding /web.v1-default-4d62f425f8",
		"Deployment web-system/web",
	}
	if diff := cmp.Diff(want, names(pkg.Objects)); diff != "" {
		t.Error(diff)
	}
	last := pkg.Objects[len(pkg.Objects)-1].Object
	template, _, _ := unstructured.NestedMap(last, "spec", "template", "metadata", "annotations")
	if diff := cmp.Diff(map[string]any{
		"a": "of the version", "b": "of the pod", "c": "literal {{ x }}",
		"olm.targetNamespaces": "",
	}, template); diff != "" {
		t.Error(diff)
	}
	if n, _, _ := unstructured.NestedInt64(last, "spec", "template", "spec", "priority"); n != 9007199254740993 {
		t.Errorf("priority %d", n)
	}
	if diff := cmp.Diff([]string{"the bundle depends on the package db in version 1, which is not installed with " +
		"it: install that, too"}, pkg.Warnings); diff != "" {
		t.Error(diff)
	}

	suggested := strings.Replace(operatorCSV, "annotations: {",
		"annotations: {operatorframework.io/suggested-namespace: here, ", 1)
	pkg = load(suggested + "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n---\napiVersion: v1\n" +
		"kind: Namespace\nmetadata: {name: here}\n")
	kinds := map[string]int{}
	for _, object := range pkg.Objects {
		kinds[object.GetKind()]++
	}
	if pkg.Namespace != "here" || kinds["Namespace"] != 1 || kinds["ServiceAccount"] != 1 {
		t.Errorf("namespace %s, objects %v", pkg.Namespace, names(pkg.Objects))
	}
}

// What the API server would not take of a deployment is left out, as where a typed client sends it.
func TestRegistryDeploymentFits(t *testing.T) {
	csv := strings.Replace(operatorCSV, "spec: {serviceAccountName: web,", "spec: {containers: [{name: web, env: "+
		"[{name: A, value: one}, {name: A, value: two}], sincere: true}], serviceAccountName: web,", 1)
	pkg, err := format.Load(t.Context(), bundle(map[string]string{
		"metadata/annotations.yaml": annotations, "manifests/web.csv.yaml": csv,
	}), format.Options{})
	if err != nil {
		t.Fatal(err, problems(t, err))
	}
	const at = "manifests/web.csv.yaml: Deployment web: spec.template.spec.containers[0]."
	if diff := cmp.Diff([]string{
		at + "env has name A more than once: the last one counts", at + "sincere is not a field, and is left out",
	}, pkg.Warnings); diff != "" {
		t.Error(diff)
	}
}

func TestRegistryNamesFit(t *testing.T) {
	long := strings.Repeat("long.", 60)
	csv := strings.NewReplacer("name: web.v1", "name: "+long+"v1").Replace(operatorCSV)
	pkg, err := format.Load(t.Context(), bundle(map[string]string{
		"metadata/annotations.yaml": strings.Replace(annotations, "web", long+"web", 1), "manifests/web.csv.yaml": csv,
	}), format.Options{})
	if err != nil {
		t.Fatal(err, problems(t, err))
	}
	if len(pkg.Namespace) != 63 {
		t.Errorf("namespace %s", pkg.Namespace)
	}
	for _, object := range pkg.Objects {
		if len(object.GetName()) > 253 {
			t.Errorf("name %s of %d characters", object.GetName(), len(object.GetName()))
		}
	}
}

func TestRegistryProblems(t *testing.T) {
	const file = "manifests/web.csv.yaml"
	valid := map[string]string{"metadata/annotations.yaml": annotations, file: operatorCSV}
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"what cannot be installed": {
			map[string]string{file: strings.NewReplacer("strategy: deployment", "strategy: other",
				"AllNamespaces, supported: true", "SingleNamespace, supported: true").Replace(operatorCSV) +
				"  apiservicedefinitions: {owned: [{name: apis, group: api.example.com, version: v1, kind: Api}]}\n" +
				"  webhookdefinitions: [{type: ConversionWebhook, generateName: convert}]\n"},
			[]string{
				file + `: install strategy "other" is not supported, only deployment`,
				file + ": the operator has to be told with --watch-namespaces what to watch: it supports " +
					"SingleNamespace",
				file + ": ConversionWebhook convert: conversionCRDs: required",
				file + `: ConversionWebhook convert: the ClusterServiceVersion has no deployment ""`,
				file + `: API api.example.com/v1: the ClusterServiceVersion has no deployment ""`,
			},
		},
		"annotations": {
			map[string]string{
				"metadata/annotations.yaml": "annotations:\n" +
					"  operators.operatorframework.io.bundle.mediatype.v1: plain+v0\n" +
					"  operators.operatorframework.io.bundle.manifests.v1: deploy/\n",
				"manifests/x.yaml": "a: [\n",
			},
			[]string{
				"metadata/annotations.yaml: annotation operators.operatorframework.io.bundle.package.v1: required",
				`metadata/annotations.yaml: media type "plain+v0", not registry+v1`,
				`metadata/annotations.yaml: the manifests are in "deploy/", not in manifests/`,
				"manifests/x.yaml:1: did not find expected node content",
			},
		},
		"no version": {
			map[string]string{file: configMap},
			[]string{"invalid registry+v1 bundle: manifests/: holds no ClusterServiceVersion"},
		},
		"two versions": {
			map[string]string{"manifests/x.yaml": strings.Replace(operatorCSV, "web.v1", "web.v2", 1)},
			[]string{"invalid registry+v1 bundle: manifests/: holds several ClusterServiceVersions: web.v1, web.v2"},
		},
		"a wrong type": {map[string]string{file: strings.Replace(operatorCSV, "installModes: [", "installModes: [1, ",
			1)}, []string{"invalid registry+v1 bundle: " + file +
			": ClusterServiceVersion web.v1: json: cannot unmarshal number"}},
		"a directory": {
			map[string]string{"manifests/more/x.yaml": configMap},
			[]string{"invalid registry+v1 bundle: manifests/more/: manifests/ must be flat: move its files up"},
		},
		"a deployment": {
			map[string]string{file: strings.Replace(operatorCSV, "- name: web", "- name: ''", 1)},
			[]string{"invalid registry+v1 bundle: " + file + ": Deployment: metadata.name: required"},
		},
		"invalid namespace": {map[string]string{"metadata/annotations.yaml": strings.Replace(annotations, "web",
			"Web_1",
			1)}, []string{`invalid registry+v1 bundle: ` + file +
			`: invalid namespace "Web_1-system": a lowercase RFC 1123`}},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(valid)
			maps.Copy(files, test.files)
			_, err := format.Load(t.Context(), bundle(files), format.Options{})
			got := problems(t, err)
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Fatal(cmp.Diff(test.want, got))
			}
		})
	}
}

func FuzzRegistry(f *testing.F) {
	f.Add([]byte(annotations), []byte(operatorCSV))
	f.Add([]byte("annotations: [1]"), []byte(strings.Replace(operatorCSV, "template:", "templates:", 1)))
	f.Add([]byte(annotations), []byte(strings.ReplaceAll(operatorCSV, "priority:", "containers: [{volumeMounts: "+
		"[{name: [], mountPath: /tmp/k8s-webhook-server/serving-certs}]}], volumes: [{name: {}}, 1], priority:")+
		"  webhookdefinitions: [{type: MutatingAdmissionWebhook, generateName: a.b.c, deploymentName: web, "+
		"rules: [{}]}]\n"+
		"  apiservicedefinitions: {owned: [{group: a.b, version: v1, deploymentName: web}]}\n"))
	f.Add([]byte("a: &a [*a]"), []byte(strings.ReplaceAll(operatorCSV, "rules: [", "rules: [1, ")))
	f.Fuzz(func(t *testing.T, about, csv []byte) {
		fsys := bundle(map[string]string{"metadata/annotations.yaml": string(about), "manifests/csv.yaml": string(csv)})
		pkg, err := format.Load(t.Context(), fsys, format.Options{Format: format.Registry})
		checkLoaded(t, pkg, err)
	})
}
