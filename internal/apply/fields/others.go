package fields

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/berthdev/berth/internal/kube"
)

// IsContested says whether applying may meet a conflict: another manager owns a field that is wanted otherwise than it
// is. The API server, which alone knows how values are written, decides.
func IsContested(current, wanted *unstructured.Unstructured, manager string) bool {
	for _, entry := range current.GetManagedFields() {
		if entry.Manager != manager && differs(fieldsOf(entry), current.Object, normal(wanted)) {
			return true
		}
	}
	return false
}

// differs says whether two values differ in a field of a set that both could have.
func differs(set *fieldpath.Set, current, wanted any) bool {
	for _, at := range elements(set) {
		w := child(wanted, at)
		if w == nil {
			continue
		}
		below, more := set.Children.Get(at)
		if more && differs(below, child(current, at), w) || !more && !equal(child(current, at), w) {
			return true
		}
	}
	return false
}

// child is a field or an item of a value; nil if there is none.
func child(v any, at fieldpath.PathElement) any {
	switch v := v.(type) {
	case map[string]any:
		if at.FieldName != nil {
			return v[*at.FieldName]
		}
	case []any:
		for _, item := range v {
			if isItem(at, item) {
				return item
			}
		}
	}
	return nil
}

func equal(a, b any) bool {
	return value.Equals(value.NewValueInterface(a), value.NewValueInterface(b))
}

// scaler is the manager that scales for a HorizontalPodAutoscaler.
const scaler = "kube-controller-manager"

// Yield is what is wanted without the fields that are there for others to set, and that
// others have set: the number of replicas that an autoscaler has chosen, and the
// authority of a webhook or an API service that a controller has filled in, unless it is that of a certificate which
// berth makes.
func Yield(current, wanted *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	mine := owned(current, manager)
	ownAuthority := wanted.GetAnnotations()[kube.AnnotationCertificate] != ""
	var theirs []fieldpath.Path
	for _, entry := range current.GetManagedFields() {
		set := fieldsOf(entry)
		switch {
		case entry.Manager == manager:
		case entry.Subresource == "scale":
			if replicas := fieldpath.MakePathOrDie("spec", "replicas"); entry.Manager == scaler && set.Has(replicas) {
				theirs = append(theirs, replicas)
			}
		case entry.Subresource == "" && !ownAuthority:
			set.Iterate(func(path fieldpath.Path) {
				last := path[len(path)-1].FieldName
				if last != nil && *last == "caBundle" && !mine.Has(path) {
					theirs = append(theirs, path.Copy())
				}
			})
		}
	}
	if theirs == nil {
		return wanted
	}
	wanted = wanted.DeepCopy()
	for _, path := range theirs {
		drop(wanted.Object, path)
	}
	return wanted
}

// drop removes a field.
func drop(v any, path fieldpath.Path) {
	for len(path) > 1 {
		v, path = child(v, path[0]), path[1:]
	}
	if fields, ok := v.(map[string]any); ok && path[0].FieldName != nil {
		delete(fields, *path[0].FieldName)
	}
}
