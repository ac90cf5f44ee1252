package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply/fields"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// ReasonNothingWritten is the reason of an error that was found before anything was written.
const ReasonNothingWritten = "NOTHING_WRITTEN"

// checkAll finds what would keep objects from being applied: versions of a custom
// resource definition that would be lost, and fields that other managers have set.
func (r *run) checkAll(ctx context.Context) error {
	var doubtful []*item
	problems := make([][]string, len(r.items))
	at := map[*item]int{}
	for i, it := range r.items {
		at[it] = i
		current := r.seen(it)
		if current == nil || r.compare(current, it) != fields.Differs {
			continue
		}
		if lost := lostVersions(current, it.Object); lost != "" {
			problems[i] = append(problems[i], it.describe()+": "+lost)
		}
		wanted := fields.Yield(current, it.object, kube.FieldManager)
		if !r.Force && r.DryRun == DryRunNone && it.Merge == nil && r.Owner.Owns(current) &&
			fields.IsContested(current, wanted, kube.FieldManager) {
			doubtful = append(doubtful, it)
		}
	}
	err := sideBySide(ctx, doubtful, func(ctx, _ context.Context, it *item) (err error) {
		problems[at[it]], err = r.detectConflicts(ctx, it)
		return err
	})
	if err != nil {
		return err
	}
	var all []string
	for _, some := range problems {
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil
	}
	refused := fault.New(fault.Conflict, "%s", all[0])
	if len(all) > 1 {
		refused = fault.New(fault.Conflict, "%d changes conflict with what is on the cluster", len(all))
		refused.Problems = all
	}
	return refused.WithReason(ReasonNothingWritten).
		WithHint("undo the changes that are named, then try again; nothing has been written")
}

// detectConflicts asks the API server which fields would conflict with those of other managers.
// What else it says of the object it says again when the object is applied.
func (r *run) detectConflicts(ctx context.Context, it *item) (problems []string, err error) {
	wanted := fields.Yield(r.seen(it), it.object.DeepCopy(), kube.FieldManager)
	options := metav1.ApplyOptions{FieldManager: kube.FieldManager, DryRun: []string{metav1.DryRunAll}}
	_, err = it.in(r.Client).Apply(ctx, it.name, wanted, options)
	for _, cause := range conflicts(err) {
		problems = append(problems, fmt.Sprintf("%s, field %s: %s", it.describe(), cause.Field, cause.Message))
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return problems, nil
}

// lostVersions says which versions of a custom resource definition, of which objects are stored, a newer one does not
// have; empty if there are none. The API server refuses it as well, in words of its own.
func lostVersions(current, wanted *unstructured.Unstructured) string {
	if !isKind(wanted, kindDefinition) {
		return ""
	}
	stored, _, _ := unstructured.NestedStringSlice(current.Object, "status", "storedVersions")
	versions, _, _ := unstructured.NestedSlice(wanted.Object, "spec", "versions")
	for _, v := range versions {
		version, _ := v.(map[string]any)
		stored = slices.DeleteFunc(stored, func(name string) bool { return name == version["name"] })
	}
	if len(stored) == 0 {
		return ""
	}
	return fmt.Sprintf("it would lose %s, in which objects are stored (status.storedVersions)",
		strings.Join(stored, ", "))
}

// foreign is the error of an object of another owner.
func (it *item) foreign(owner Owner) error {
	return fault.New(fault.Conflict, "%s exists and does not belong to %s", it.describe(), owner.Name).
		WithHint("rename or delete it, then try again")
}

// conflict is the error of fields that other field managers have set.
func (it *item) conflict(causes []metav1.StatusCause) error {
	problems := make([]string, len(causes))
	for i, cause := range causes {
		problems[i] = fmt.Sprintf("field %s: %s", cause.Field, cause.Message)
	}
	err := fault.New(fault.Conflict, "%s conflicts with other field managers: %s", it.describe(), problems[0])
	if len(problems) > 1 {
		err.Message, err.Problems = it.describe()+" conflicts with other field managers", problems
	}
	return err.WithHint("undo their change, or delete the object, then try again; see who set what: %s "+
		"--show-managed-fields", it.kubectlGet())
}

// conflicts are the fields that others than berth have set; what the API server says of each names the field manager.
func conflicts(err error) (others []metav1.StatusCause) {
	for _, cause := range causes(err) {
		if cause.Type == metav1.CauseTypeFieldManagerConflict &&
			!strings.HasPrefix(cause.Message, `conflict with "`+kube.FieldManager+`"`) {
			others = append(others, cause)
		}
	}
	return others
}

func isFieldConflict(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}

func causes(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}
