package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply/fields"
	"github.com/berthdev/berth/internal/kube"
)

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

// lostVersions says which versions of a custom resource definition, of which objects
// are stored, a newer one does not have; empty if there are none. The API server refuses
// it as well, in words of its own.
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
	return fmt.Sprintf("it would lose %s, in which objects are stored (status.storedVersions)", strings.Join(stored, ", "))
}
