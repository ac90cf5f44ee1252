package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// parse reads objects of YAML, one a line.
func parse(t *testing.T, text string) (objects []*unstructured.Unstructured) {
	t.Helper()
	for line := range strings.Lines(text) {
		object := &unstructured.Unstructured{}
		text, err := yaml.YAMLToJSON([]byte(line))
		if err == nil {
			err = object.UnmarshalJSON(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// workspace are a ConfigMap, a claim and a pod.
func workspace(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	return parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {script: old}}
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}}
{apiVersion: v1, kind: Pod, metadata: {name: a}}`)
}

// cluster is client-go's fake, which has no server-side apply of untyped objects:
// here applying replaces the whole object, and fails if the UID is another one.
// What the API server makes of fields and their managers is shown on a real one.
type cluster struct {
	*fake.FakeDynamicClient
	discovery *fakediscovery.FakeDiscovery

	mu      sync.Mutex
	writes  []string
	reads   int
	answers map[string]error // to a verb and a resource, instead of doing it
}

func newCluster(existing ...*unstructured.Unstructured) *cluster {
	definitions := schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions",
	}
	lists := map[schema.GroupVersionResource]string{definitions: "CustomResourceDefinitionList"}
	c := &cluster{
		FakeDynamicClient: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists),
		answers:           map[string]error{},
	}
	c.discovery = &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}}
	for _, object := range existing {
		resource, _ := kube.ResourceOf(object.GroupVersionKind())
		_ = c.Tracker().Create(resource.GroupVersionResource, object, object.GetNamespace())
	}
	c.PrependReactor("*", "*", c.react)
	c.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		if w, is := action.(clienttesting.WatchActionImpl); is &&
			w.ListOptions.SendInitialEvents != nil { // which the fake does not send
			return true, nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil)
		}
		return false, nil, nil
	})
	return c
}

func (c *cluster) react(action clienttesting.Action) (bool, runtime.Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	request := action.GetVerb() + " " + action.GetResource().Resource
	switch action.GetVerb() {
	case "get":
		c.reads++
	case "list", "watch":
	default:
		c.writes = append(c.writes, request)
	}
	if err := c.answers[request]; err != nil {
		return true, nil, err
	}
	if creation, is := action.(clienttesting.CreateAction); is {
		if object, is := creation.GetObject().(*unstructured.Unstructured); is && object.GetUID() == "" {
			object.SetUID(types.UID("of-" + object.GetName()))
		}
		return false, nil, nil
	}
	patch, is := action.(clienttesting.PatchAction)
	if !is || patch.GetPatchType() != types.ApplyPatchType {
		return false, nil, nil
	}
	wanted := &unstructured.Unstructured{}
	if err := json.Unmarshal(patch.GetPatch(), &wanted.Object); err != nil {
		return true, nil, err
	}
	current, err := c.Tracker().Get(action.GetResource(), action.GetNamespace(), patch.GetName())
	if err != nil {
		return true, nil, err
	}
	if o, _ := current.(*unstructured.Unstructured); o.GetUID() != wanted.GetUID() {
		return true, nil, apierrors.NewConflict(action.GetResource().GroupResource(), patch.GetName(),
			errors.New("another UID"))
	}
	return true, wanted, c.Tracker().Update(action.GetResource(), wanted, action.GetNamespace())
}

func (c *cluster) applier() Applier {
	return Applier{Client: c, Discovery: c.discovery, Namespace: "ns", Owner: Owner{
		Name: "release a", Labels: map[string]string{"by": "Helm"}, Annotations: map[string]string{"release": "a"},
	}}
}

// removeFound removes those of the objects that exist and are the owner's.
func (a Applier) removeFound(t *testing.T, objects []*unstructured.Unstructured) (Changes, error) {
	t.Helper()
	own, _, err := a.Find(t.Context(), objects, a.Owner.Owns)
	if err != nil {
		t.Fatal(err)
	}
	return a.Remove(t.Context(), own)
}

// actions are what became of objects, in their order.
func actions(changes Changes) (text []string) {
	for _, c := range changes {
		text = append(text, string(c.Action)+" "+c.Object.GetKind())
	}
	return text
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The pod is created after everything else, and all of it carries the marks.
func TestWaves(t *testing.T) {
	c := newCluster()
	changes, err := c.applier().Apply(t.Context(), Objects(workspace(t)))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, actions(changes), "create ConfigMap", "create PersistentVolumeClaim", "create Pod")
	if c.writes[2] != "create pods" {
		t.Errorf("created in the order %q", c.writes)
	}
	for _, change := range changes {
		if o := change.Object; !c.applier().Owner.Owns(o) || o.GetNamespace() != "ns" || change.Before != nil {
			t.Errorf("%s", o)
		}
	}
}

func TestOrder(t *testing.T) {
	objects := parse(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, `+
		`metadata: {name: w}}
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}
{apiVersion: v1, kind: Namespace, metadata: {name: n}}`)
	objects = append(objects, parse(t, `{apiVersion: example.org/v1, kind: Crew, metadata: {name: c}}
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: crews.example.org}, `+
		`spec: {group: example.org, scope: Namespaced, names: {kind: Crew, plural: crews}, versions: [{name: v1}]}, `+
		`status: {conditions: [{type: Established, status: "True"}, {type: NamesAccepted, status: "True"}]}}`)...)
	c := newCluster()
	if _, err := c.applier().Apply(t.Context(), Objects(objects)); err != nil {
		t.Fatal(err)
	}
	slices.Sort(c.writes[:2]) // side by side
	expect(t, c.writes, "create customresourcedefinitions", "create namespaces", "create clusterroles",
		"create deployments", "create validatingwebhookconfigurations", "create crews")
	c.writes = nil
	if _, err := c.applier().removeFound(t, objects); err != nil {
		t.Fatal(err)
	}
	slices.Sort(c.writes[4:])
	expect(t, c.writes, "delete validatingwebhookconfigurations", "delete crews", "delete deployments",
		"delete clusterroles", "delete customresourcedefinitions", "delete namespaces")
}

// An object of the same name that belongs to someone else is left alone.
func TestForeignObject(t *testing.T) {
	foreign := workspace(t)[0]
	foreign.SetNamespace("ns")
	foreign.SetAnnotations(map[string]string{"release": "b"})
	c := newCluster(foreign)
	changes, err := c.applier().Apply(t.Context(), Objects(workspace(t)[:1]))
	if fault.CodeOf(err) != fault.Conflict ||
		!strings.Contains(err.Error(), "configmap/a in namespace ns exists and does not belong to release a") {
		t.Errorf("%v, want CONFLICT", err)
	}
	expect(t, actions(changes), "unchanged ConfigMap")
	expect(t, c.writes, "create configmaps")
}

// What is there already is brought up to date, but for what cannot be changed.
func TestApplyAgain(t *testing.T) {
	c := newCluster()
	if _, err := c.applier().Apply(t.Context(), Objects(workspace(t))); err != nil {
		t.Fatal(err)
	}
	again := workspace(t)
	again[0].Object["data"] = map[string]any{"script": "new"}
	changes, err := c.applier().Apply(t.Context(), Objects(again))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, actions(changes), "update ConfigMap", "unchanged PersistentVolumeClaim", "unchanged Pod")
	data := func(o *unstructured.Unstructured) any { return o.Object["data"].(map[string]any)["script"] }
	if data(changes[0].Object) != "new" || data(changes[0].Before) != "old" {
		t.Errorf("%v became %v", changes[0].Before, changes[0].Object)
	}
	changes, err = c.applier().Apply(t.Context(), Objects(again))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, actions(changes), "unchanged ConfigMap", "unchanged PersistentVolumeClaim", "unchanged Pod")
}

// What was done is known also if something else failed.
func TestChangesWithAnError(t *testing.T) {
	c := newCluster()
	c.answers["create pods"] = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a",
		errors.New("exceeded quota: q"))
	changes, err := c.applier().Apply(t.Context(), Objects(workspace(t)))
	if refused, is := errors.AsType[*kube.RefusedError](err); !is || refused.Call.Object() != "pod/a" {
		t.Errorf("it ended with %v", err)
	}
	expect(t, actions(changes), "create ConfigMap", "create PersistentVolumeClaim")
}

// What is under way when something else fails comes to its end, and is not waited
// for longer.
func TestSideBySide(t *testing.T) {
	failure, begun := errors.New("no"), make(chan struct{})
	fails, goesOn := &item{}, &item{}
	err := sideBySide(t.Context(), []*item{goesOn, fails}, func(ctx, waiting context.Context, it *item) error {
		if it == fails {
			<-begun
			return failure
		}
		close(begun)
		<-waiting.Done()
		if ctx.Err() == nil {
			it.change = &Change{}
		}
		return waiting.Err()
	})
	if !errors.Is(err, failure) || goesOn.change == nil {
		t.Errorf("%v, done: %v", err, goesOn.change)
	}
}

// What several have in common is left as it is, but for what is merged into what
// berth made.
func TestShared(t *testing.T) {
	merge := func(_, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		wanted.Object["data"] = map[string]any{"script": "merged"}
		return wanted, nil
	}
	for name, test := range map[string]struct {
		mine  bool
		merge func(current, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error)
		want  string
	}{
		"of another owner":                  {false, merge, "unchanged ConfigMap"},
		"of berth, with nothing to merge":   {true, nil, "unchanged ConfigMap"},
		"of berth, with something to merge": {true, merge, "update ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			there := workspace(t)[0]
			there.SetNamespace("ns")
			a := newCluster().applier()
			if test.mine {
				there = a.Owner.mark(there)
			}
			c := newCluster(there)
			a.Client, a.Shared = c, true
			changes, err := a.Apply(t.Context(), []Wanted{{Object: workspace(t)[0], Merge: test.merge}})
			if err != nil {
				t.Fatal(err)
			}
			expect(t, actions(changes), test.want)
		})
	}
}

// An object is made after its parent, and owned by it.
func TestParent(t *testing.T) {
	objects := workspace(t)
	secret := kube.Named("Secret", "git")
	c := newCluster()
	c.PrependReactor("create", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
		object := action.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured)
		object.SetUID("u1")
		return false, nil, nil
	})
	changes, err := c.applier().Apply(t.Context(), append(Objects(objects), Wanted{Object: secret, Parent: objects[0]}))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, c.writes[2:], "create secrets", "create pods")
	made, _ := changes.Of(secret, "ns")
	if owners := made.Object.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != "u1" || owners[0].Name != "a" ||
		owners[0].Kind != "ConfigMap" {
		t.Errorf("owned by %v", owners)
	}
}

// A parent that would be made too late, or not at all, is an error before anything
// is written.
func TestParentTooLate(t *testing.T) {
	objects := workspace(t)
	for name, parent := range map[string]*unstructured.Unstructured{
		"in a later wave": objects[2], "not in the set": kube.Named("ConfigMap", "other"),
	} {
		c := newCluster()
		_, err := c.applier().Apply(t.Context(),
			append(Objects(objects), Wanted{Object: kube.Named("Secret", "git"), Parent: parent}))
		if fault.CodeOf(err) != fault.Internal ||
			!strings.Contains(err.Error(), "secret/git in namespace ns would be created before its parent") {
			t.Errorf("%s: %v", name, err)
		}
		expect(t, c.writes)
	}
}

// An object that names no namespace is the one of the applier's namespace.
func TestChangesOfANamespace(t *testing.T) {
	other := workspace(t)[0]
	other.SetNamespace("other")
	changes, err := newCluster().applier().
		Apply(t.Context(), Objects([]*unstructured.Unstructured{other, workspace(t)[0]}))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []*unstructured.Unstructured{other, workspace(t)[0]} {
		change, known := changes.Of(object, "ns")
		if want := cmp.Or(object.GetNamespace(), "ns"); !known || change.Object.GetNamespace() != want {
			t.Errorf("%v, want the one in %s", change.Object, want)
		}
	}
}

func TestClientDryRunWritesNothing(t *testing.T) {
	there := newCluster().applier().Owner.mark(workspace(t)[0])
	there.SetNamespace("ns")
	there.SetUID("u1")
	c := newCluster(there)
	a := c.applier()
	a.DryRun = DryRunClient
	wanted := workspace(t)
	wanted[0].Object["data"] = map[string]any{"script": "new"}
	changes, err := a.Apply(t.Context(), Objects(wanted))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, actions(changes), "update ConfigMap", "create PersistentVolumeClaim", "create Pod")
	changes, err = a.removeFound(t, workspace(t))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, actions(changes), "delete ConfigMap")
	if changes[0].Object.Object["data"] == nil {
		t.Error("it is not shown what would be deleted")
	}
	expect(t, c.writes)
	if c.reads != 6 {
		t.Errorf("6 objects were read %d times", c.reads)
	}
}

// Each of these is a kind that berth does not know by itself.
func TestKinds(t *testing.T) {
	objects := parse(t, `{apiVersion: example.com/v1, kind: Boat, metadata: {name: b}}
{apiVersion: example.com/v1, kind: Harbour, metadata: {name: h}}
{apiVersion: example.org/v1, kind: Crew, metadata: {name: c}}
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: crews.example.org}, `+
		`spec: {group: example.org, scope: Namespaced, names: {kind: Crew, plural: crews}, versions: [{name: v1}]}}`)
	c := newCluster()
	asked := 0
	c.discovery.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) {
		asked++
		return false, nil, nil
	})
	if _, err := c.applier().Apply(t.Context(), Objects(objects)); fault.CodeOf(err) != fault.Failed ||
		len(c.writes) > 0 ||
		!strings.Contains(err.Error(), "example.com/v1, Kind=Boat; example.com/v1, Kind=Harbour") {
		t.Errorf("%v after %q", err, c.writes)
	}
	changes, err := c.applier().removeFound(t, objects[:2]) // their kinds are unknown, so none can exist
	if err != nil || len(changes) > 0 {
		t.Error(changes, err)
	}
	c.discovery.Resources = []*metav1.APIResourceList{{
		GroupVersion: "example.com/v1",
		APIResources: []metav1.APIResource{
			{Name: "boats", Kind: "Boat", Namespaced: true},
			{Name: "boats/status", Kind: "Boat", Namespaced: true},
			{Name: "harbours", Kind: "Harbour"},
		},
	}}
	asked = 0
	targets, err := c.applier().targets(t.Context(), objects)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, target := range targets {
		got = append(got, target.namespace+"/"+target.GroupResource().String())
	}
	expect(t, got, "ns/boats.example.com", "/harbours.example.com", "ns/crews.example.org",
		"/customresourcedefinitions.apiextensions.k8s.io")
	if asked != 1 {
		t.Errorf("the cluster was asked for kinds %d times", asked)
	}
}
