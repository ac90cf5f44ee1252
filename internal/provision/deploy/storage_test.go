package deploy

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Anyone who runs out of time is told the command that goes on in the same way.
func TestRemovingCommand(t *testing.T) {
	for how, want := range map[Removing]string{
		{Wait: true}:        "berth delete id/alice-1 --namespace dev",
		{KeepStorage: true}: "berth delete id/alice-1 --namespace dev --keep-storage",
	} {
		if got := how.Command("alice-1", "dev"); got != want {
			t.Errorf("%+v: %s", how, got)
		}
	}
}

// A claim that never had a volume is made again if its blueprint has come to ask for something
// else. One that has or had a volume may hold data.
func TestRecreatedClaims(t *testing.T) {
	const given = "standard" // to a claim that names no class
	for name, c := range map[string]struct {
		have, wanted string
		again        bool
	}{
		"the same": {
			"{spec: {storageClassName: fast}, status: {phase: Pending}}",
			"{spec: {storageClassName: fast}}", false,
		},
		"another class": {
			"{spec: {storageClassName: fast}, status: {phase: Pending}}",
			"{spec: {storageClassName: standard}}", true,
		},
		"another size": {
			"{spec: {resources: {requests: {storage: 1Gi}}}, status: {phase: Pending}}",
			"{spec: {storageClassName: standard, resources: {requests: {storage: 2Gi}}}}", true,
		},
		"no class any more": {
			"{spec: {storageClassName: fast}, status: {phase: Pending}}", "{spec: {}}",
			true,
		},
		"the class of the cluster": {
			"{spec: {storageClassName: standard}, status: {phase: Pending}}",
			"{spec: {}}", false,
		},
		"no class until the cluster has one": {"{spec: {}, status: {phase: Pending}}", "{spec: {}}", true},
		"it is bound": {
			"{spec: {storageClassName: fast, volumeName: pv-1}, status: {phase: Bound}}",
			"{spec: {storageClassName: standard}}", false,
		},
		"it is about to be bound": {
			"{spec: {storageClassName: fast, volumeName: pv-1}, status: {phase: Pending}}",
			"{spec: {storageClassName: standard}}", false,
		},
		"its volume is lost": {
			"{spec: {storageClassName: fast, volumeName: pv-1}, status: {phase: Lost}}",
			"{spec: {storageClassName: standard}}", false,
		},
		"it was bound": {
			`{metadata: {annotations: {pv.kubernetes.io/bind-completed: "yes"}}, spec: {storageClassName: fast}, ` +
				`status: {phase: Pending}}`,
			"{spec: {storageClassName: standard}}", false,
		},
		"nothing is known": {"{spec: {storageClassName: fast}}", "{spec: {storageClassName: standard}}", false},
		"it goes": {
			`{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {storageClassName: fast}, status: ` +
				`{phase: Pending}}`,
			"{spec: {storageClassName: standard}}", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
			client.PrependReactor("create", "persistentvolumeclaims",
				func(action clienttesting.Action) (bool, runtime.Object, error) {
					made := action.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured)
					_ = unstructured.SetNestedField(made.Object, given, "spec", "storageClassName")
					return true, made, nil
				})
			reader := inventory.Reader{Client: &kube.Client{Dynamic: client, Namespace: "dev"}}
			if got := NeedsRecreation(t.Context(), reader, claimOf(t, c.have), claimOf(t, c.wanted)); got != c.again {
				t.Errorf("%t, want %t", got, c.again)
			}
		})
	}
}

// The Service that a workspace had from an earlier berth has an address, which it cannot lose: it is made again.
func TestServiceIsMadeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		have, wanted string
		again        bool
	}{
		"it had an address":   {"10.96.0.7", "None", true},
		"it has none":         {"None", "None", false},
		"it is to have one":   {"None", "", true},
		"any address will do": {"10.96.0.7", "", false},
	} {
		service := func(address string) *unstructured.Unstructured {
			object := kube.Named("Service", "alice-1")
			_ = unstructured.SetNestedField(object.Object, address, "spec", "clusterIP")
			return object
		}
		if got := NeedsRecreation(t.Context(), inventory.Reader{}, service(c.have), service(c.wanted)); got != c.again {
			t.Errorf("%s: %t, want %t", name, got, c.again)
		}
	}
}

func claimOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	claim := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &claim.Object); err != nil {
		t.Fatal(err)
	}
	claim.SetAPIVersion("v1")
	claim.SetKind(kindClaim)
	claim.SetName("data")
	return claim
}
