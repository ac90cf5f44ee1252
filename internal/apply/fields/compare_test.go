package fields

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/kube"
)

const manager = "berth"

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = object.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// server is what the API server makes of one object and the owners of its fields, by
// its own code and with its own schemas.
type server struct {
	*testing.T
	managedfieldstest.TestFieldManager
}

func newServer(t *testing.T, wanted *unstructured.Unstructured) *server {
	t.Helper()
	converter := managedfields.NewDeducedTypeConverter()
	if scheme.Scheme.Recognizes(wanted.GroupVersionKind()) {
		converter = applyconfigurations.NewTypeConverter(scheme.Scheme)
	}
	return &server{t, managedfieldstest.NewTestFieldManager(converter, wanted.GroupVersionKind())}
}

// typed is an object as the API server stores it: with nothing that its type leaves out.
func (s *server) typed(object *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	kind, err := scheme.Scheme.New(object.GroupVersionKind())
	if err != nil {
		return object.DeepCopy()
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, kind); err != nil {
		s.Fatal(err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(kind)
	if err != nil {
		s.Fatal(err)
	}
	return &unstructured.Unstructured{Object: fields}
}

func (s *server) create(object *unstructured.Unstructured) {
	s.Helper()
	if err := s.Update(s.typed(object), manager); err != nil {
		s.Fatal(err)
	}
}

// edit lets another client change the object.
func (s *server) edit(by string, change func(map[string]any)) {
	s.Helper()
	object := s.live().DeepCopy()
	change(object.Object)
	if err := s.Update(object, by); err != nil {
		s.Fatal(err)
	}
}

func (s *server) live() *unstructured.Unstructured {
	object, _ := s.Live().(*unstructured.Unstructured)
	return object
}

func set(value any, path ...string) func(map[string]any) {
	return func(object map[string]any) { _ = unstructured.SetNestedField(object, value, path...) }
}

func remove(path ...string) func(map[string]any) {
	return func(object map[string]any) { unstructured.RemoveNestedField(object, path...) }
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, labels: {app: d}, annotations: {}}
spec:
  replicas: 2
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}, creationTimestamp: null}
    spec:
      hostNetwork: false
      automountServiceAccountToken: false
      containers:
      - name: c
        image: nginx:1
        ports: [{containerPort: 53}, {containerPort: 53, protocol: UDP}]
        env: [{name: A, value: "1"}, {name: EMPTY, value: ""}]
        resources: {limits: {cpu: 1000m}, requests: {}}
        volumeMounts: [{name: v, mountPath: /v, readOnly: false}]
      volumes: [{name: v, emptyDir: {}}]
`

const configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {l: x}}, data: {a: "1", b: "2"}}`

// What is as it was applied needs no request, whatever others have added; what others
// have changed or removed does.
func TestCompare(t *testing.T) {
	nothing := func(map[string]any) {}
	for name, test := range map[string]struct {
		object string
		change func(map[string]any)
		want   Verdict
	}{
		"a deployment":                {deployment, nothing, Same},
		"with what others have added": {deployment, set("x", "metadata", "annotations", "theirs"), Same},
		"with its defaults": {deployment, func(o map[string]any) {
			set(int64(600), "spec", "progressDeadlineSeconds")(o)
			set("RollingUpdate", "spec", "strategy", "type")(o)
		}, Same},
		"with a status":    {deployment, set(int64(2), "status", "replicas"), Same},
		"a changed number": {deployment, set(int64(3), "spec", "replicas"), Drifted},
		"a false removed":  {deployment, remove("spec", "template", "spec", "automountServiceAccountToken"), Drifted},
		"another image": {deployment, func(o map[string]any) {
			containers, _, _ := unstructured.NestedSlice(o, "spec", "template", "spec", "containers")
			containers[0].(map[string]any)["image"] = "nginx:2"
			set(containers, "spec", "template", "spec", "containers")(o)
		}, Drifted},
		"a container more": {deployment, func(o map[string]any) {
			containers, _, _ := unstructured.NestedSlice(o, "spec", "template", "spec", "containers")
			set(append(containers, map[string]any{"name": "sidecar", "image": "s"}), "spec", "template", "spec",
				"containers")(o)
		}, Same},
		"a container renamed": {deployment, func(o map[string]any) {
			containers, _, _ := unstructured.NestedSlice(o, "spec", "template", "spec", "containers")
			containers[0].(map[string]any)["name"] = "other"
			set(containers, "spec", "template", "spec", "containers")(o)
		}, Drifted},
		"a label removed":       {configMap, remove("metadata", "labels", "l"), Drifted},
		"a key removed":         {configMap, remove("data", "b"), Drifted},
		"a key added":           {configMap, set("3", "data", "c"), Same},
		"a key changed":         {configMap, set("3", "data", "b"), Drifted},
		"what is wanted is old": {configMap, set("sha256:0", "metadata", "annotations", "berth.dev/applied"), Differs},
		"no digest":             {configMap, remove("metadata", "annotations", "berth.dev/applied"), Differs},
		"the lock of another run": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {berth.dev/lock: "7"}}}`,
			set("8", "metadata", "annotations", "berth.dev/lock"), Same,
		},
		"a custom resource": {`{apiVersion: example.org/v1, kind: Crew, metadata: {name: c}, spec: ` +
			`{names: [a, b], size: 0, more: {}}}`, nothing, Same},
		"a list of one": {`{apiVersion: example.org/v1, kind: Crew, metadata: {name: c}, spec: ` +
			`{names: [a, b]}}`, set([]any{"a"}, "spec", "names"), Drifted},
		"a definition with empty texts": {
			`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, ` +
				`metadata: {name: c}, spec: {preserveUnknownFields: false, group: g}}`,
			remove("spec", "preserveUnknownFields"), Same,
		},
	} {
		t.Run(name, func(t *testing.T) {
			wanted := parse(t, test.object)
			Stamp(wanted)
			s := newServer(t, wanted)
			s.create(wanted)
			s.edit("kubectl-edit", test.change)
			if got := Compare(s.live(), wanted, manager); got != test.want {
				t.Errorf("created: %v, want %v: %v", got, test.want, s.live())
			}
		})
	}
}

// Once it is applied, the same holds.
func TestCompareApplied(t *testing.T) {
	for name, test := range map[string]struct {
		change func(map[string]any)
		want   Verdict
	}{
		"as it was": {func(map[string]any) {}, Same}, "changed": {set("3", "data", "b"), Drifted},
		"removed": {remove("data", "b"), Drifted},
	} {
		wanted := parse(t, configMap)
		Stamp(wanted)
		s := newServer(t, wanted)
		if err := s.Apply(wanted, manager, true); err != nil {
			t.Fatal(err)
		}
		s.edit("kubectl-edit", test.change)
		if got := Compare(s.live(), wanted, manager); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// The texts of a Secret are its data.
func TestCompareSecret(t *testing.T) {
	wanted := parse(t, `{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: x}, data: {b: eA==}}`)
	Stamp(wanted)
	stored := wanted.DeepCopy()
	stored.Object["data"] = map[string]any{"a": "eA==", "b": "eA=="}
	delete(stored.Object, "stringData")
	s := newServer(t, wanted)
	s.create(stored)
	if got := Compare(s.live(), wanted, manager); got != Same {
		t.Errorf("%v", got)
	}
}

// A conflict is possible where another manager has set what is wanted otherwise.
func TestIsContested(t *testing.T) {
	for name, test := range map[string]struct {
		change func(map[string]any)
		wanted string
		want   bool
	}{
		"nobody":           {func(map[string]any) {}, `{a: "9"}`, false},
		"another field":    {set("3", "data", "c"), `{a: "9"}`, false},
		"as it is wanted":  {set("3", "data", "b"), `{b: "3"}`, false},
		"another value":    {set("3", "data", "b"), `{b: "4"}`, true},
		"what they added":  {set("3", "data", "c"), `{c: "4"}`, true},
		"what they remove": {remove("data", "b"), `{b: "4"}`, false},
	} {
		s := newServer(t, parse(t, configMap))
		s.create(parse(t, configMap))
		s.edit("kubectl-edit", test.change)
		wanted := parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: `+test.wanted+`}`)
		if got := IsContested(s.live(), wanted, manager); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What is there for controllers to fill in is left to them.
func TestYield(t *testing.T) {
	webhook := `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: ` +
		`w}, webhooks: [{name: a.example.org, clientConfig: {caBundle: Cg==, url: u}, sideEffects: None}]}`
	wanted := parse(t, webhook)
	Stamp(wanted)
	s := newServer(t, wanted)
	s.create(wanted)
	if got := Yield(s.live(), wanted, manager); got != wanted {
		t.Errorf("%v", got)
	}
	s.edit("cainjector", func(o map[string]any) {
		hooks, _, _ := unstructured.NestedSlice(o, "webhooks")
		_ = unstructured.SetNestedField(hooks[0].(map[string]any), "YQ==", "clientConfig", "caBundle")
		set(hooks, "webhooks")(o)
	})
	if got := Compare(s.live(), wanted, manager); got != Drifted {
		t.Errorf("%v", got)
	}
	rest := Yield(s.live(), wanted, manager)
	if got := Compare(s.live(), rest, manager); got != Same || rest == wanted {
		t.Errorf("%v: %v", got, rest)
	}
	own := wanted.DeepCopy()
	own.SetAnnotations(map[string]string{kube.AnnotationCertificate: "ns/cert"})
	if got := Yield(s.live(), own, manager); got != own {
		t.Errorf("the authority of a certificate of berth's own is left to others: %v", got)
	}
}

// The number of replicas belongs to an autoscaler that has set it, and to nobody else.
func TestYieldReplicas(t *testing.T) {
	for by, want := range map[string]Verdict{scaler: Same, "kubectl": Drifted} {
		wanted := parse(t, deployment)
		Stamp(wanted)
		s := newServer(t, wanted)
		s.create(wanted)
		s.edit(by, set(int64(5), "spec", "replicas"))
		live := s.live()
		entries := live.GetManagedFields()
		for i := range entries {
			if entries[i].Manager == by {
				entries[i].Subresource = "scale"
			}
		}
		live.SetManagedFields(entries)
		if got := Compare(live, Yield(live, wanted, manager), manager); got != want {
			t.Errorf("%s: %v", by, got)
		}
	}
}
