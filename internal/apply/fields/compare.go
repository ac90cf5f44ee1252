// Package fields says what became of the fields that berth has set in an object: by
// the digest of what was applied, which the object carries, and by the API server's
// record of who owns which field. Values are hardly compared, as the API server writes
// many of them in another way. Everything here is a function of its arguments.
package fields

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/berthdev/berth/internal/kube"
)

// Stamp notes in an object what is wanted of it.
func Stamp(wanted *unstructured.Unstructured) {
	text, err := json.Marshal(wanted.Object)
	if err != nil {
		return // it will not be sent either; without a stamp it is applied
	}
	sum := sha256.Sum256(text)
	kube.Annotate(wanted, kube.AnnotationApplied, "sha256:"+hex.EncodeToString(sum[:]))
}

// Verdict is how an object compares with what is wanted.
type Verdict int

// Something else is wanted than was applied; others have changed or removed what was
// applied; or all of it is there, and nothing of berth's beyond it.
const (
	Differs Verdict = iota
	Drifted
	Same
)

// Compare compares an object with what is wanted of it, which is stamped. Fields that
// others have added do not count.
func Compare(current, wanted *unstructured.Unstructured, manager string) Verdict {
	stamp := wanted.GetAnnotations()[kube.AnnotationApplied]
	if stamp == "" || current.GetAnnotations()[kube.AnnotationApplied] != stamp {
		return Differs
	}
	if covers(owned(current, manager), current.Object, normal(wanted)) {
		return Same
	}
	return Drifted
}

// owned are the fields of a manager, whether it has created or applied the object: what
// it has created becomes what it has applied with the first apply.
func owned(object *unstructured.Unstructured, manager string) *fieldpath.Set {
	all := fieldpath.NewSet()
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == manager && entry.Subresource == "" && entry.APIVersion == object.GetAPIVersion() {
			all = all.Union(fieldsOf(entry))
		}
	}
	return all
}

// fieldsOf are the fields of an entry; none if it cannot be read.
func fieldsOf(entry metav1.ManagedFieldsEntry) *fieldpath.Set {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil || set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
		return fieldpath.NewSet()
	}
	return set
}
