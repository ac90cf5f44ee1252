package apply

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// The API server is asked to check each write, and to keep none.
func TestServerDryRun(t *testing.T) {
	there := newCluster().applier().Owner.mark(workspace(t)[0])
	there.SetNamespace("ns")
	there.SetUID("u1")
	there.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: kube.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:script":{}}}`),
	}})
	c := newCluster(there)
	c.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		var dryRun []string
		switch a := action.(type) {
		case clienttesting.CreateActionImpl:
			dryRun = a.CreateOptions.DryRun
		case clienttesting.PatchActionImpl:
			dryRun = a.PatchOptions.DryRun
		case clienttesting.DeleteActionImpl:
			dryRun = a.DeleteOptions.DryRun
		default:
			return false, nil, nil
		}
		if !slices.Equal(dryRun, []string{metav1.DryRunAll}) {
			t.Errorf("%s %s is not a dry run", action.GetVerb(), action.GetResource().Resource)
		}
		return false, nil, nil
	})
	a := c.applier()
	a.DryRun = DryRunServer
	if _, err := a.Apply(t.Context(), Objects(workspace(t)[:2])); err != nil {
		t.Fatal(err)
	}
	if _, err := a.removeFound(t, workspace(t)[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Mark(t.Context(), []*unstructured.Unstructured{there}, map[string]string{"kept": "true"},
		nil); err != nil {
		t.Fatal(err)
	}
	slices.Sort(c.writes)
	expect(t, c.writes, "create configmaps", "create persistentvolumeclaims", "delete configmaps", "patch configmaps",
		"patch configmaps", "patch configmaps")
}

// Fields that the API server does not know are refused in a dry run alone, and only if the applier says so.
func TestStrictFields(t *testing.T) {
	for name, test := range map[string]struct {
		mode   DryRun
		strict bool
		want   string
	}{
		"a dry run":                     {mode: DryRunServer},
		"a dry run of strict fields":    {mode: DryRunServer, strict: true, want: metav1.FieldValidationStrict},
		"a creation with strict fields": {strict: true},
	} {
		c := newCluster()
		got := "nothing"
		c.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
			if create, is := action.(clienttesting.CreateActionImpl); is {
				got = create.CreateOptions.FieldValidation
			}
			return false, nil, nil
		})
		a := c.applier()
		a.DryRun, a.StrictFields = test.mode, test.strict
		if _, err := a.Apply(t.Context(), Objects(workspace(t)[:1])); err != nil || got != test.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// All that the API server refuses in a dry run is said together; a server that does not answer ends it.
func TestServerDryRunSaysAll(t *testing.T) {
	for name, test := range map[string]struct {
		answer   error
		problems int
	}{
		"refused":  {apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "x", errors.New("quota")), 2},
		"no words": {apierrors.NewServiceUnavailable("away"), 0},
	} {
		c := newCluster()
		c.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
			return action.GetResource().Resource == "configmaps", nil, test.answer
		})
		a := c.applier()
		a.DryRun = DryRunServer
		second := workspace(t)[0].DeepCopy()
		second.SetName("another")
		changes, err := a.Apply(t.Context(), Objects(append(workspace(t)[:2], second)))
		if err == nil || len(fault.From(err).Problems) != test.problems {
			t.Errorf("%s: %v %q", name, err, fault.From(err).Problems)
		}
		if test.problems > 0 && (len(changes) != 1 || changes[0].Object.GetKind() != "PersistentVolumeClaim" ||
			!strings.Contains(err.Error(), "2 objects are refused") || fault.CodeOf(err) != fault.Failed) {
			t.Errorf("%s: %+v %v %s", name, changes[0].Object, err, fault.CodeOf(err))
		}
	}
}

// Without the API server, what is wanted is laid over what is there: fields that
// the cluster has added are not a change.
func TestClientDryRun(t *testing.T) {
	const (
		service = `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{name: ssh, port: 22}]}}`
		live    = `{apiVersion: v1, kind: Service, ` +
			`metadata: {name: a, namespace: ns, uid: u1, resourceVersion: "7"}, ` +
			`spec: {clusterIP: 10.0.0.1, ports: [{name: ssh, port: 22, protocol: TCP, targetPort: 22}]}}`
		issued = `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a}, spec: {names: [x], ` +
			`issuer: {name: i}}}`
		ready = `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, namespace: ns}, spec: ` +
			`{names: [x], issuer: {name: i, kind: Issuer}}, status: {ready: true}}`
		longer = `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, namespace: ns}, spec: ` +
			`{names: [x, y], issuer: {name: i, kind: Issuer}}}`
	)
	for name, test := range map[string]struct {
		there, wanted, action string
		result                string // without the marks
	}{
		"unchanged":                  {live, service, "unchanged Service", live},
		"unchanged, of another kind": {ready, issued, "unchanged Certificate", ready},
		"a list of another kind": {
			longer, issued, "update Certificate",
			`{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, namespace: ns}, spec: {names: ` +
				`[x], issuer: {name: i, kind: Issuer}}}`,
		},
		"new": {
			"", service, "create Service",
			`{apiVersion: v1, kind: Service, metadata: {name: a, namespace: ns}, spec: {ports: [{name: ` +
				`ssh, port: 22}]}}`,
		},
		"changed in one of its ports": {
			live,
			`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{name: sftp, port: 22}]}}`,
			"update Service",
			`{apiVersion: v1, kind: Service, ` +
				`metadata: {name: a, namespace: ns, uid: u1, resourceVersion: "7"}, ` +
				`spec: {clusterIP: 10.0.0.1, ports: [{name: sftp, port: 22, protocol: TCP, targetPort: 22}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			owner := newCluster().applier().Owner
			var there []*unstructured.Unstructured
			if test.there != "" {
				there = append(there, owner.mark(parse(t, test.there)[0]))
			}
			c := newCluster(there...)
			a := c.applier()
			a.DryRun = DryRunClient
			changes, err := a.Apply(t.Context(), Objects(parse(t, test.wanted)))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, actions(changes), test.action)
			if want := owner.mark(parse(t, test.result)[0]); !equality.Semantic.DeepEqual(changes[0].Object, want) {
				t.Errorf("it would be %v, want %v", changes[0].Object, want)
			}
			expect(t, c.writes)
		})
	}
}

// A dry run does not wait for an object that is being deleted: there will be
// another one.
func TestDryRunDoesNotWait(t *testing.T) {
	for _, mode := range []DryRun{DryRunClient, DryRunServer} {
		leaving := newCluster().applier().
			Owner.mark(parse(t, `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ns, deletionTimestamp: `+
			`"2026-01-02T03:04:05Z", finalizers: [example.com/slow]}}`)[0])
		c := newCluster(leaving)
		a := c.applier()
		a.DryRun = mode
		changes, err := a.Apply(t.Context(), Objects(parse(t, `{apiVersion: v1, kind: Pod, metadata: {name: a}}`)))
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		expect(t, actions(changes), "create Pod")
		if changes[0].Object.GetDeletionTimestamp() != nil {
			t.Errorf("%s: it would be %v", mode, changes[0].Object)
		}
	}
}
