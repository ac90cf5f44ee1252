package provision

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
)

// hint says what to do about the cause of a reading. In a workload there are
// containers that no blueprint knows.
func (r *run) hint(s v1.Snapshot) string {
	about := cause.About{Namespace: r.namespace, Controlled: r.found.Workload != nil}
	if r.found.Workload == nil || s.Cause != nil && strings.HasPrefix(s.Cause.Container, r.id+"-") {
		about.Blueprint, about.Origin = r.blueprint.Name, r.blueprint.Origin
	}
	return cause.Hint(s.Cause, about.Of(r.podSpec(), s.Cause))
}

// podSpec is how the pods of the workspace are specified; empty if that is not
// known.
func (r *run) podSpec() (spec corev1.PodSpec) {
	var content map[string]any
	switch {
	case r.found.Workload != nil:
		content, _, _ = unstructured.NestedMap(r.found.Workload.Object, "spec", "template", "spec")
	case r.rendered != nil:
		for _, object := range r.rendered.Objects {
			if object.GetKind() == "Pod" {
				content, _, _ = unstructured.NestedMap(object.Object, "spec")
			}
		}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &spec); err != nil {
		return corev1.PodSpec{} // a hint without it is a hint too
	}
	return spec
}
