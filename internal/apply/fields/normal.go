package fields

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berthdev/berth/internal/kube"
)

// normal is what the API server keeps of a wanted object, as far as fields go: without
// what it fills in itself, and of a built-in kind without what its type leaves out, such
// as a false that is the same as nothing.
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
