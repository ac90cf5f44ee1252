// Package fields says what became of the fields that berth has set in an object: by the digest of what was applied,
// which the object carries, and by the API server's record of who owns which field. Values are hardly compared, as the
// API server writes many of them in another way. Everything here is a function of its arguments.
package fields

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

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

// Compare compares an object with what is wanted of it, which is stamped. Fields that others have added do not count.
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

// normal is what the API server keeps of a wanted object, as far as fields go: without what it fills in itself, and of
// a built-in kind without what its type leaves out, such as a false that is the same as nothing.
func normal(wanted *unstructured.Unstructured) map[string]any {
	object := wanted.DeepCopy().Object
	if kind, err := scheme.Scheme.New(wanted.GroupVersionKind()); err == nil {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, kind); err == nil {
			if typed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(kind); err == nil {
				object, _ = common(object, typed).(map[string]any)
			}
		}
	} else {
		dropZeros(object)
	}
	for _, field := range []string{"apiVersion", "kind", "status"} {
		delete(object, field)
	}
	if texts, ok := object["stringData"].(map[string]any); ok { // of a Secret
		data, _ := object["data"].(map[string]any)
		if data == nil {
			data = map[string]any{}
		}
		maps.Copy(data, texts)
		object["data"] = data
		delete(object, "stringData")
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		for _, field := range []string{
			"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
			"managedFields",
		} {
			delete(metadata, field)
		}
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			delete(annotations, kube.AnnotationLock) // each lock writes its own
		}
	}
	return object
}

// common is what a value has in common with what its type makes of it: that may leave
// fields out, and have some with no value. A list that it changes is as it was.
func common(value, typed any) any {
	switch value := value.(type) {
	case map[string]any:
		fields, ok := typed.(map[string]any)
		if !ok {
			return typed
		}
		both := map[string]any{}
		for key, field := range value {
			if other, has := fields[key]; has {
				both[key] = common(field, other)
			}
		}
		return both
	case []any:
		items, ok := typed.([]any)
		if !ok || len(items) != len(value) {
			return value
		}
		both := make([]any, len(value))
		for i := range value {
			both[i] = common(value[i], items[i])
		}
		return both
	}
	return typed
}

// dropZeros drops what may be left out where the type of an object is not known here.
func dropZeros(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if field == false || field == "" || field == int64(0) || field == float64(0) {
				delete(value, key)
			}
			dropZeros(field)
		}
	case []any:
		for _, item := range value {
			dropZeros(item)
		}
	}
}

// covers says whether every field of a value is in a set. What is empty is in all. Of what is owned as a whole, or was,
// the values decide: the set of a map that has lost its only field looks the same.
func covers(set *fieldpath.Set, current, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, _ := current.(map[string]any)
		for key, field := range wanted {
			if !coversElement(set, fieldpath.FieldNameElement(key), fields[key], field) {
				return false
			}
		}
		return true
	case []any:
		for _, item := range wanted {
			if !coversItem(set, current, item) {
				return false
			}
		}
		return true
	}
	return false // a list or an object has taken the place of a value
}

// coversElement is covers for what is below a field or an item of a list.
func coversElement(set *fieldpath.Set, at fieldpath.PathElement, current, wanted any) bool {
	if isEmpty(wanted) {
		return true
	}
	if below, has := set.Children.Get(at); has {
		return covers(below, current, wanted)
	}
	if !set.Members.Has(at) {
		return false
	}
	switch wanted.(type) {
	case map[string]any, []any:
		return includes(current, wanted)
	}
	return true
}

// coversItem finds an item of a list by its keys or by its value.
func coversItem(set *fieldpath.Set, current, item any) bool {
	for _, at := range elements(set) {
		if isItem(at, item) && coversElement(set, at, child(current, at), item) {
			return true
		}
	}
	return false
}

// includes says whether a value has everything of another one.
func includes(current, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, _ := current.(map[string]any)
		for key, field := range wanted {
			if !isEmpty(field) && !includes(fields[key], field) {
				return false
			}
		}
		return true
	case []any:
		items, _ := current.([]any)
		if len(items) != len(wanted) {
			return false
		}
		for i := range wanted {
			if !includes(items[i], wanted[i]) {
				return false
			}
		}
		return true
	}
	return equal(current, wanted)
}

// elements are the fields or items of which a set has something.
func elements(set *fieldpath.Set) (all []fieldpath.PathElement) {
	add := func(at fieldpath.PathElement) { all = append(all, at) }
	set.Children.Iterate(add)
	set.Members.Iterate(add)
	return all
}

// isItem says whether an item of a list is the one that is meant. A key that it leaves out has its default.
func isItem(at fieldpath.PathElement, item any) bool {
	switch {
	case at.Value != nil:
		return value.Equals(*at.Value, value.NewValueInterface(item))
	case at.Key == nil:
		return false
	}
	fields, ok := item.(map[string]any)
	if !ok {
		return false
	}
	for _, key := range *at.Key {
		if field, has := fields[key.Name]; has && !value.Equals(key.Value, value.NewValueInterface(field)) {
			return false
		}
	}
	return true
}

// isEmpty is true for what the API server leaves out.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, field := range v {
			if !isEmpty(field) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}
