package apply

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/kube"
)

// The API server is asked to check each write, and to keep none.
func TestServerDryRun(t *testing.T) {
	there := newCluster().applier().Owner.mark(workspace(t)[0])
	there.SetNamespace("ns")
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
			t.Errorf("%s %s is no dry run", action.GetVerb(), action.GetResource().Resource)
		}
		return false, nil, nil
	})
	a := c.applier()
	a.DryRun = DryRunServer
	if _, err := a.Apply(t.Context(), Objects(workspace(t)[:2])); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Remove(t.Context(), workspace(t)[:1]); err != nil {
		t.Fatal(err)
	}
	slices.Sort(c.writes)
	expect(t, c.writes, "create configmaps", "create persistentvolumeclaims", "delete configmaps", "patch configmaps", "patch configmaps")
}
