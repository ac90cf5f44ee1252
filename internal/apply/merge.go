package apply

import (
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// merge lays the wanted fields over an object as it is, like kubectl's client-side
// apply: by the merge keys of a built-in kind; lists of any other kind as a whole.
// Fields that are not wanted any more stay, as only the API server knows them.
func merge(current, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if builtIn, err := scheme.Scheme.New(wanted.GroupVersionKind()); err == nil {
		merged, err := strategicpatch.StrategicMergeMapPatch(current.DeepCopy().Object, wanted.DeepCopy().Object, builtIn)
		return &unstructured.Unstructured{Object: merged}, err
	}
	original, err := current.MarshalJSON()
	if err != nil {
		return nil, err
	}
	patch, err := json.Marshal(wanted.Object)
	if err != nil {
		return nil, err
	}
	if patch, err = jsonpatch.MergePatch(original, patch); err != nil {
		return nil, err
	}
	merged := &unstructured.Unstructured{}
	err = merged.UnmarshalJSON(patch)
	return merged, err
}
