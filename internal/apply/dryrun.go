package apply

import (
	"context"
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
)

// DryRun says what becomes of changes.
type DryRun string

// Changes are written, are only computed, or are sent to the API server, which
// checks them (quota, admission, pod security) and keeps nothing.
const (
	DryRunNone   DryRun = ""
	DryRunClient DryRun = "client"
	DryRunServer DryRun = "server"
)

// Options is the mode as the options of a request have it. Without the API server no such request is made.
func (d DryRun) Options() []string {
	if d == DryRunServer {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// fieldValidation is what the API server is asked to do about fields that it does not know in an object to create.
func (a Applier) fieldValidation() string {
	if a.StrictFields && a.DryRun == DryRunServer {
		return metav1.FieldValidationStrict
	}
	return ""
}

// client is how an object is reached: in a dry run of which the API server is not asked, nothing is written.
func (r *run) client(it *item) dynamic.ResourceInterface {
	api := it.in(r.Client)
	if r.DryRun == DryRunClient || it.unasked != "" {
		return &readOnly{ResourceInterface: api, it: it}
	}
	return api
}

// whyUnasked says of an object why a dry run cannot ask the API server about it: its namespace or kind would be created
// by the same dry run. It is empty for all others.
func (r *run) whyUnasked(it *item) string {
	if r.DryRun != DryRunServer {
		return ""
	}
	for _, other := range r.items {
		if other.change == nil || other.change.Action != Created {
			continue
		}
		if isKind(other.Object, kindNamespace) && other.name == it.namespace {
			return "its namespace would be created with it, and the API server does not know that yet"
		}
		if _, is := defined([]*unstructured.Unstructured{other.Object})[it.Object.GroupVersionKind()]; is {
			return "its kind would be defined with it, and the API server does not know that yet"
		}
	}
	return ""
}

// readOnly answers changes as the API server would, as far as that is known from what is there. An object is read once.
type readOnly struct {
	dynamic.ResourceInterface
	it      *item
	current *unstructured.Unstructured
}

func (c *readOnly) Create(ctx context.Context, object *unstructured.Unstructured, _ metav1.CreateOptions,
	_ ...string,
) (*unstructured.Unstructured, error) {
	var err error
	c.current, err = c.ResourceInterface.Get(ctx, object.GetName(), metav1.GetOptions{})
	switch {
	case err == nil:
		return nil, apierrors.NewAlreadyExists(c.it.GroupResource(), object.GetName())
	case apierrors.IsNotFound(err):
		return object, nil
	}
	return nil, err
}

func (c *readOnly) Get(ctx context.Context, name string, o metav1.GetOptions,
	sub ...string,
) (*unstructured.Unstructured, error) {
	if c.current != nil {
		return c.current, nil
	}
	return c.ResourceInterface.Get(ctx, name, o, sub...)
}

func (c *readOnly) Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions,
	...string,
) (*unstructured.Unstructured, error) {
	return c.current, nil
}

func (c *readOnly) Apply(_ context.Context, _ string, object *unstructured.Unstructured, _ metav1.ApplyOptions,
	_ ...string,
) (*unstructured.Unstructured, error) {
	return merge(c.current, object)
}

func (c *readOnly) Delete(context.Context, string, metav1.DeleteOptions, ...string) error {
	return nil // Remove has read it
}

// merge lays the wanted fields over an object as it is, like kubectl's client-side
// apply: by the merge keys of a built-in kind; lists of any other kind as a whole.
// Fields that are not wanted any more stay, as only the API server knows them.
func merge(current, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if builtIn, err := scheme.Scheme.New(wanted.GroupVersionKind()); err == nil {
		merged, err := strategicpatch.StrategicMergeMapPatch(current.DeepCopy().Object, wanted.DeepCopy().Object,
			builtIn)
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
