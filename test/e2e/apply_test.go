//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// field is a namespace in which objects are applied by the library itself: what
// only the real API server knows of fields, managers, UIDs and kinds.
type field struct {
	*world
	apply.Applier
}

func newField(t *testing.T) *field {
	t.Helper()
	parallel(t)
	w := newBareWorld(t)
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		t.Fatal(err)
	}
	return &field{world: w, Applier: apply.Applier{
		Client: client, Discovery: w.Discovery(), Namespace: w.namespace,
		Owner: apply.Owner{Name: "bundle " + w.namespace, Labels: map[string]string{"example.com/owner": w.namespace}},
	}}
}

// parse reads objects, with the namespace in place of NAME.
func (f *field) parse(text string) (wanted []apply.Wanted) {
	f.Helper()
	for document := range strings.SplitSeq(strings.ReplaceAll(text, "NAME", f.namespace), "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			f.Fatal(err)
		}
		wanted = append(wanted, apply.Wanted{Object: object})
	}
	return wanted
}

// remove finds the owner's of these objects and removes them.
func (f *field) remove(ctx context.Context, text string) (apply.Changes, error) {
	own, _, err := f.Find(ctx, apply.Unwrap(f.parse(text)), f.Owner.Owns)
	if err != nil {
		return nil, err
	}
	return f.Remove(ctx, own)
}

// applies applies objects and fails the test unless that is what becomes of them.
func (f *field) applies(text string, want ...string) apply.Changes {
	f.Helper()
	changes, err := f.Apply(f.Context(), f.parse(text))
	if err != nil {
		f.Fatal(err)
	}
	f.became(changes, want...)
	return changes
}

func (f *field) became(changes apply.Changes, want ...string) {
	f.Helper()
	var got []string
	for _, c := range changes {
		got = append(got, string(c.Action)+" "+c.Object.GetKind())
	}
	if !slices.Equal(got, want) {
		f.Errorf("%q, want %q", got, want)
	}
}

func (f *field) api(kind string) dynamic.ResourceInterface {
	resource, _ := kube.ResourceOf(kube.Named(kind, "").GroupVersionKind())
	return f.Client.Resource(resource.GroupVersionResource).Namespace(f.namespace)
}

// data are the keys and values of a ConfigMap.
func (f *field) data(name string) map[string]any {
	f.Helper()
	object, err := f.api("ConfigMap").Get(f.Context(), name, metav1.GetOptions{})
	if err != nil {
		f.Fatal(err)
	}
	data, _, _ := unstructured.NestedMap(object.Object, "data")
	return data
}

const scripts = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {start.sh: old, gone.sh: x}}"

// What an older version had and a newer one does not have is gone, also from an
// object that was created and never applied; what others have added stays.
func TestApplyDropsWhatIsNotWantedAnyMore(t *testing.T) {
	f := newField(t)
	f.applies(scripts, "create ConfigMap")
	f.applies(scripts, "unchanged ConfigMap")
	patch := []byte(`{"data":{"theirs":"y"}}`)
	if _, err := f.api("ConfigMap").
		Patch(t.Context(), "m", types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"new", "newer"} {
		changes := f.applies("{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {start.sh: "+script+"}}",
			"update ConfigMap")
		if before, _, _ := unstructured.NestedString(changes[0].Before.Object, "data", "start.sh"); before == script {
			t.Errorf("before it was %q as well", before)
		}
		if data := f.data("m"); len(data) != 2 || data["start.sh"] != script || data["theirs"] != "y" {
			t.Errorf("with %s it is %v", script, data)
		}
	}
}

// The same of a Secret that is written as text.
func TestApplyToASecret(t *testing.T) {
	f := newField(t)
	for i, password := range []string{"old", "new", "newer"} {
		wanted := "{apiVersion: v1, kind: Secret, metadata: {name: s}, type: kubernetes.io/basic-auth, stringData: " +
			"{username: u, password: " + password + "}}"
		if i == 0 {
			wanted = strings.Replace(wanted, "{username: u", "{username: u, gone: x", 1)
		}
		f.applies(wanted, []string{"create Secret", "update Secret", "update Secret"}[i])
		secret, err := f.CoreV1().Secrets(f.namespace).Get(t.Context(), "s", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && len(secret.Data) != 2 || string(secret.Data["password"]) != password ||
			string(secret.Data["username"]) != "u" {
			t.Errorf("%s: it is %q", password, secret.Data)
		}
	}
}

// An object that another owner made is not touched.
func TestApplyToAForeignObject(t *testing.T) {
	f := newField(t)
	if _, err := f.api("ConfigMap").Create(t.Context(), f.parse(scripts)[0].Object,
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	changes, err := f.Apply(t.Context(),
		f.parse("{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {start.sh: mine}}"))
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("it ended with %v", err)
	}
	f.contains(err.Error(), "configmap/m in namespace "+f.namespace+" exists and does not belong to bundle")
	f.became(changes, "unchanged ConfigMap")
	if f.data("m")["start.sh"] != "old" {
		t.Error("it was changed")
	}
	own, foreign, err := f.Find(t.Context(), apply.Unwrap(f.parse(scripts)), f.Owner.Owns)
	if err != nil || len(own) > 0 || len(foreign) != 1 {
		t.Errorf("found to remove is %v, %v, %v", own, foreign, err)
	}
}

// A field that another manager has set is a conflict, unless it is to be taken over.
func TestApplyConflict(t *testing.T) {
	f := newField(t)
	f.applies(scripts, "create ConfigMap")
	patch := []byte(`{"data":{"start.sh":"theirs"}}`)
	if _, err := f.api("ConfigMap").
		Patch(t.Context(), "m", types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	wanted := f.parse(strings.ReplaceAll(scripts, "old", "new"))
	for _, mode := range []apply.DryRun{apply.DryRunServer, apply.DryRunNone} {
		f.DryRun = mode
		changes, err := f.Apply(t.Context(), wanted)
		if fault.CodeOf(err) != fault.Conflict {
			t.Fatalf("it ended with %v", err)
		}
		f.contains(err.Error(), `field .data.start.sh: conflict with "kubectl-edit"`)
		f.became(changes, "unchanged ConfigMap")
		if f.data("m")["start.sh"] != "theirs" {
			t.Error("it was taken over")
		}
	}
	f.Force = true
	f.applies(strings.ReplaceAll(scripts, "old", "new"), "update ConfigMap")
	if f.data("m")["start.sh"] != "new" {
		t.Error("it was not taken over")
	}
}

// afterGet does something when an object has been read, once.
type afterGet struct {
	http.RoundTripper
	do func()
}

func (a *afterGet) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := a.RoundTripper.RoundTrip(r)
	if do := a.do; r.Method == http.MethodGet && do != nil {
		a.do = nil
		do()
	}
	return answer, err
}

// An object that is deleted and made again between reading and applying is read
// again: it may have another owner now.
func TestApplyToAnObjectThatWasMadeAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		owner string
		code  fault.Code
		want  string
	}{
		"by the owner":     {"", "", "update ConfigMap"},
		"by another owner": {"somebody", fault.Conflict, "unchanged ConfigMap"},
		"not made again":   {"nobody", "", "create ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t)
			f.applies(strings.ReplaceAll(scripts, "old", "older"), "create ConfigMap")
			f.applies(scripts, "update ConfigMap") // now only the UID distinguishes the two
			again := f.parse(scripts)[0].Object
			again.SetLabels(map[string]string{"example.com/owner": cmp.Or(test.owner, f.namespace)})
			hook := &afterGet{do: func() {
				if err := f.api("ConfigMap").Delete(t.Context(), "m", metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
				if test.owner == "nobody" {
					return
				}
				if _, err := f.api("ConfigMap").
					Create(t.Context(), again, metav1.CreateOptions{FieldManager: kube.FieldManager}); err != nil {
					t.Error(err)
				}
			}}
			config := rest.CopyConfig(f.config)
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				hook.RoundTripper = next
				return hook
			})
			applier := f.Applier
			applier.Client = dynamic.NewForConfigOrDie(config)
			changes, err := applier.Apply(t.Context(), f.parse(strings.ReplaceAll(scripts, "old", "new")))
			if fault.CodeOf(err) != test.code {
				t.Errorf("it ended with %v", err)
			}
			f.became(changes, test.want)
			if got := f.data("m")["start.sh"]; (got == "new") != (err == nil) {
				t.Errorf("it is %q", got)
			}
		})
	}
}

const boats = `apiVersion: NAME.example.com/v1
kind: Boat
metadata: {name: b}
spec: {length: 7}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.NAME.example.com}
spec:
  group: NAME.example.com
  scope: Namespaced
  names: {kind: Boat, plural: boats}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
---
apiVersion: v1
kind: Namespace
metadata: {name: NAME-more}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m, namespace: NAME-more}
`

// A definition and a resource of it, what is in no namespace, and a namespace and
// what is in it, are one set; dry runs of it write nothing.
func TestApplyAcrossTheCluster(t *testing.T) {
	f := newField(t)
	t.Cleanup(func() {
		f.DryRun = apply.DryRunNone
		_, _ = f.remove(context.Background(), boats)
	})
	all := []string{"Boat", "CustomResourceDefinition", "ClusterRole", "Namespace", "ConfigMap"}
	each := func(action apply.Action) (want []string) {
		for _, kind := range all {
			want = append(want, string(action)+" "+kind)
		}
		return want
	}
	for _, mode := range []apply.DryRun{apply.DryRunClient, apply.DryRunServer, apply.DryRunNone} {
		f.DryRun = mode
		f.applies(boats, each(apply.Created)...)
	}
	for _, mode := range []apply.DryRun{apply.DryRunClient, apply.DryRunServer, apply.DryRunNone} {
		f.DryRun = mode
		f.applies(boats, each(apply.Unchanged)...)
	}
	for _, mode := range []apply.DryRun{apply.DryRunClient, apply.DryRunServer, apply.DryRunNone} {
		f.DryRun = mode
		changes, err := f.remove(t.Context(), boats)
		if err != nil {
			t.Fatal(err)
		}
		f.became(changes, each(apply.Deleted)...)
	}
	f.eventually("all of it is gone", func() bool {
		changes, err := f.remove(t.Context(), boats)
		if err != nil {
			t.Fatal(err)
		}
		return len(changes) == 0
	})
}

// What the API server refuses is an error, with what was done before it; a dry run
// on the server is refused likewise.
func TestApplyWhatIsRefused(t *testing.T) {
	f := newField(t)
	wanted := scripts + "\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: -1}}"
	for _, mode := range []apply.DryRun{apply.DryRunServer, apply.DryRunNone} {
		f.DryRun = mode
		changes, err := f.Apply(t.Context(), f.parse(wanted))
		if refused, is := errors.AsType[*kube.RefusedError](err); !is || refused.Call.Object() != "deployment/d" {
			t.Errorf("it ended with %v", err)
		}
		f.became(changes, "create ConfigMap")
	}
}
