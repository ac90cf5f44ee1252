package apply

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
)

// A field that another manager has set is a conflict that names both.
func TestFieldConflict(t *testing.T) {
	there := newCluster().applier().Owner.mark(workspace(t)[0])
	there.SetNamespace("ns")
	c := newCluster(there)
	c.answers["patch configmaps"] = apierrors.NewApplyConflict([]metav1.StatusCause{{
		Type: metav1.CauseTypeFieldManagerConflict, Field: ".data.script",
		Message: `conflict with "kubectl-edit" using v1`,
	}}, "Apply failed with 1 conflict")
	changes, err := c.applier().Apply(t.Context(), Objects(workspace(t)[:1]))
	want := `configmap/a in namespace ns conflicts with other field managers: field .data.script: conflict with ` +
		`"kubectl-edit" using v1`
	if fault.CodeOf(err) != fault.Conflict || err.Error() != want {
		t.Errorf("%v", err)
	}
	if hint := fault.From(err).Hint; !strings.Contains(hint,
		"kubectl get configmaps a --namespace ns --output yaml --show-managed-fields") {
		t.Errorf("the hint is %q", hint)
	}
	expect(t, actions(changes), "unchanged ConfigMap")
}
