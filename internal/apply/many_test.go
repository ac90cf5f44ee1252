package apply

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
)

// bundle is an API server that keeps the owners of fields, and what is asked of it.
type bundle struct {
	*kubetest.Server
	Applier

	mu       sync.Mutex
	requests []string // without watches
	refuse   func(r *http.Request) (status int, message string)
}

func newBundle(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{}
	b.Server = kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if status, message := b.note(r); status != 0 {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"message":%q}`,
					status, message)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	b.Managed = true
	client := dynamic.NewForConfigOrDie(&rest.Config{Host: b.URL, QPS: -1})
	b.Applier = Applier{
		Client: client, Discovery: &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}}, Namespace: "team",
		Owner: Owner{
			Name: "bundle b", Annotations: map[string]string{"release": "b"},
			Tags: map[string]string{"owner": "b"},
		},
	}
	b.view(t)
	return b
}

func (b *bundle) note(r *http.Request) (status int, message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.URL.Query().Get("watch") == "" {
		b.requests = append(b.requests, r.Method+" "+r.URL.Path)
	}
	if b.refuse != nil {
		return b.refuse(r)
	}
	return 0, ""
}

// view gives the applier a new view, as the next command has.
func (b *bundle) view(t *testing.T) {
	t.Helper()
	b.Live = live.New(b.Client, "owner=b")
	t.Cleanup(b.Live.Close)
}

// again applies a set, with a new view, and returns what it did and how many requests
// it made.
func (b *bundle) again(t *testing.T, objects []*unstructured.Unstructured) (Changes, int) {
	t.Helper()
	b.view(t)
	b.requests = nil
	changes, err := b.Apply(t.Context(), Objects(objects))
	if err != nil {
		t.Fatal(err)
	}
	return changes, len(b.requests)
}

// edit lets another client change an object.
func (b *bundle) edit(t *testing.T, kind, name, patch string) {
	t.Helper()
	resource, _ := kube.ResourceOf(kube.Named(kind, name).GroupVersionKind())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, b.URL+"/api/v1/namespaces/team/"+
		resource.Resource+"/"+name+"?fieldManager=kubectl-edit", strings.NewReader(patch))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/merge-patch+json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	_ = answer.Body.Close()
}

// many are objects of several kinds.
func many(t *testing.T, n int) (objects []*unstructured.Unstructured) {
	t.Helper()
	for i := range n {
		text := []string{
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: m%d, namespace: team}, data: {a: "1"}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: s%d, namespace: team}, spec: {ports: [{port: 80}]}}`,
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d%d, namespace: team}, spec: {replicas: 0, ` +
				`selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {hostNetwork: false, ` +
				`containers: [{name: c, image: i}]}}}}`,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r%d, namespace: team}, rules: ` +
				`[{apiGroups: [""], resources: [pods], verbs: [get]}]}`,
			`{apiVersion: example.org/v1, kind: Crew, metadata: {name: c%d, namespace: team}, spec: {size: 3}}`,
		}[i%5]
		objects = append(objects, parse(t, fmt.Sprintf(text, i))...)
	}
	return append(objects, parse(t,
		`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: crews.example.org}, `+
			`spec: {group: example.org, scope: Namespaced, names: {kind: Crew, plural: crews}, `+
			`versions: [{name: v1}]}}`)...)
}

// N objects are N requests; applying them again sends no request; one that was changed or deleted is
// put right with one or two, and what others have added stays.
func TestMany(t *testing.T) {
	b := newBundle(t)
	objects := many(t, 100)
	b.First = true
	changes, requests := b.again(t, objects)
	b.First = false
	if len(changes.With(Created)) != len(objects) || requests != len(objects) {
		t.Errorf("%d objects: %d created with %d requests", len(objects), len(changes.With(Created)), requests)
	}
	changes, requests = b.again(t, objects)
	if len(changes.With(Unchanged)) != len(objects) || requests != 0 {
		t.Errorf("again: %d unchanged with %d requests: %q", len(changes.With(Unchanged)), requests, b.requests)
	}
	b.edit(t, "ConfigMap", "m0", `{"data":{"a":"2","theirs":"3"}}`)
	b.edit(t, "ConfigMap", "m5", `{"metadata":{"labels":{"theirs":"x"}}}`)
	b.edit(t, "ConfigMap", "m10", `{"metadata":{"labels":{"owner":null}}}`)
	maps, _ := kube.ResourceOf(objects[0].GroupVersionKind())
	if err := b.Client.Resource(maps.GroupVersionResource).Namespace("team").
		Delete(t.Context(), "m15", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	changes, requests = b.again(t, objects)
	expect(t, names(changes.With(Updated)), "m0", "m10")
	expect(t, names(changes.With(Created)), "m15")
	if requests > 8 {
		t.Errorf("%d requests: %q", requests, b.requests)
	}
	fixed, _ := changes.Of(objects[0], "")
	if data, _, _ := unstructured.NestedStringMap(fixed.Object.Object, "data"); data["a"] != "1" ||
		data["theirs"] != "3" {
		t.Errorf("%v", data)
	}
	if _, requests = b.again(t, objects); requests != 0 {
		t.Errorf("at last: %d requests: %q", requests, b.requests)
	}
}

// What is not wanted any more goes, also from what was only created.
func TestUpgradeOfMany(t *testing.T) {
	b := newBundle(t)
	objects := parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: team}, data: `+
		`{a: "1", gone: x}}`)
	b.again(t, objects)
	b.edit(t, "ConfigMap", "m", `{"data":{"theirs":"3"}}`)
	objects = parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: team}, data: {a: "2"}}`)
	changes, _ := b.again(t, objects)
	expect(t, actions(changes), "update ConfigMap")
	if data, _, _ := unstructured.NestedStringMap(changes[0].Object.Object, "data"); len(data) != 2 ||
		data["a"] != "2" || data["theirs"] != "3" {
		t.Errorf("%v", data)
	}
}

// Conflicts with other managers are said together, before anything is written, unless
// their fields are to be taken over.
func TestConflictsOfMany(t *testing.T) {
	b := newBundle(t)
	objects := many(t, 20)
	b.again(t, objects)
	for _, name := range []string{"m0", "m5"} {
		b.edit(t, "ConfigMap", name, `{"data":{"a":"2"}}`)
	}
	for _, o := range objects {
		if o.GetKind() == "ConfigMap" {
			o.Object["data"] = map[string]any{"a": "3"}
		}
	}
	b.view(t)
	before := b.Names("configmaps")
	changes, err := b.Apply(t.Context(),
		Objects(append(objects,
			parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: new, namespace: team}}`)...)))
	found := fault.From(err)
	if found.Code != fault.Conflict || found.Reason != ReasonNothingWritten || len(found.Problems) != 2 ||
		len(changes) != 0 || !slices.Equal(before, b.Names("configmaps")) {
		t.Fatalf("%v %q after %v", err, found.Problems, changes)
	}
	want := `configmap/m5 in namespace team, field .data.a: conflict with "kubectl-edit"`
	if !strings.Contains(found.Problems[1], want) {
		t.Errorf("%q, want %q", found.Problems[1], want)
	}
	b.Force = true
	changes, _ = b.again(t, objects)
	expect(t, names(changes.With(Updated)), "m0", "m5", "m10", "m15")
}

// A stored version of a definition is not lost.
func TestLostVersions(t *testing.T) {
	b := newBundle(t)
	const text = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ` +
		`crews.example.org}, spec: {group: example.org, scope: Namespaced, names: {kind: Crew, plural: crews}, ` +
		`versions: [{name: VERSION}]}}`
	wanted := func(version string) []*unstructured.Unstructured {
		return parse(t, strings.ReplaceAll(text, "VERSION", version))
	}
	changes, _ := b.again(t, wanted("v1alpha1"))
	there := changes[0].Object.DeepCopy()
	_ = unstructured.SetNestedStringSlice(there.Object, []string{"v1alpha1"}, "status", "storedVersions")
	b.Put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crews.example.org", there)
	b.view(t)
	_, err := b.Apply(t.Context(), Objects(wanted("v1")))
	if fault.CodeOf(err) != fault.Conflict ||
		!strings.Contains(err.Error(), "customresourcedefinition/crews.example.org: it would lose v1alpha1") {
		t.Errorf("%v", err)
	}
}

// An object that is too large for an annotation with all of it is nothing special.
func TestLargeObject(t *testing.T) {
	b := newBundle(t)
	large := parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: team}, data: {a: "1"}}`)
	for _, size := range []int{300 << 10, 310 << 10} {
		large[0].Object["data"] = map[string]any{"a": strings.Repeat("x", size)}
		changes, _ := b.again(t, large)
		if len(changes.With(Created, Updated)) != 1 {
			t.Errorf("%v", actions(changes))
		}
		if data, _, _ := unstructured.NestedString(changes[0].Object.Object, "data", "a"); len(data) != size {
			t.Errorf("%d bytes of %d", len(data), size)
		}
	}
}

// A custom resource that is not served yet though its definition is established is sent
// again.
func TestNotServedYet(t *testing.T) {
	b := newBundle(t)
	tries := 0
	b.refuse = func(r *http.Request) (int, string) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/crews") {
			tries++
			if tries < 3 {
				return http.StatusNotFound, "the server could not find the requested resource"
			}
		}
		return 0, ""
	}
	changes, _ := b.again(t, many(t, 5))
	if len(changes.With(Created)) != 6 || tries != 3 {
		t.Errorf("%v after %d tries", actions(changes), tries)
	}
}

// An object that a webhook of the set keeps back is applied after what answers the
// webhook; a webhook of others, and one that denies, is an error.
func TestWebhookOfTheSet(t *testing.T) {
	const webhook = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: ` +
		`{name: w}, webhooks: [{name: v.example.org, sideEffects: None}]}`
	for name, test := range map[string]struct {
		message string
		fails   bool
	}{
		"not answering": {`Internal error occurred: failed calling webhook "v.example.org": failed to call webhook: ` +
			`Post "https://w.team.svc:443/v?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused`, false},
		"no endpoints": {`Internal error occurred: failed calling webhook "v.example.org": failed to call webhook: ` +
			`Post "https://w.team.svc:443/v": no endpoints available for service "w"`, false},
		"of others": {
			`Internal error occurred: failed calling webhook "x.example.org": connect: connection refused`,
			true,
		},
		"denying": {`admission webhook "v.example.org" denied the request: no`, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBundle(t)
			b.refuse = func(r *http.Request) (int, string) {
				ready := slices.ContainsFunc(b.requests,
					func(request string) bool { return strings.HasSuffix(request, "/deployments") })
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/configmaps") && !ready {
					return http.StatusInternalServerError, test.message
				}
				return 0, ""
			}
			changes, err := b.Apply(t.Context(), Objects(append(many(t, 5), parse(t, webhook)...)))
			if (err != nil) != test.fails {
				t.Fatal(err)
			}
			if err == nil && len(changes.With(Created)) != 7 {
				t.Errorf("%v", actions(changes))
			}
		})
	}
}

func names(changes Changes) (names []string) {
	for _, c := range changes {
		names = append(names, c.Object.GetName())
	}
	return names
}
