package kubetest

import (
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// fieldManager is the API server's own, with its schemas.
func fieldManager(o *Object) *managedfields.FieldManager {
	converter := managedfields.NewDeducedTypeConverter()
	if scheme.Scheme.Recognizes(o.GroupVersionKind()) {
		converter = applyconfigurations.NewTypeConverter(scheme.Scheme)
	}
	return managedfieldstest.NewFakeFieldManager(converter, o.GroupVersionKind())
}

// written notes which fields of an object a client has set.
func (s *Server) written(before, after *Object, manager string) *Object {
	if !s.Managed {
		return after
	}
	if before == nil {
		before = &Object{Object: map[string]any{"apiVersion": after.GetAPIVersion(), "kind": after.GetKind()}}
	}
	return managed(fieldManager(after).Update(before.DeepCopy(), after, manager))
}

// applied is server-side apply.
func applied(before *Object, text []byte, query url.Values) (*Object, error) {
	wanted := &Object{}
	if err := wanted.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	if before == nil {
		before = &Object{Object: map[string]any{"apiVersion": wanted.GetAPIVersion(), "kind": wanted.GetKind()}}
	}
	after, err := fieldManager(wanted).
		Apply(before.DeepCopy(), wanted, query.Get("fieldManager"), query.Get("force") == "true")
	if err != nil {
		return nil, err
	}
	o := managed(after, nil)
	o.SetUID(wanted.GetUID())
	if o.GetUID() == "" {
		o.SetUID(before.GetUID())
	}
	return o, nil
}

func managed(o runtime.Object, err error) *Object {
	object, ok := o.(*unstructured.Unstructured)
	if err != nil || !ok {
		panic(err) // a test that sends nonsense
	}
	return object
}

// refuse answers with the error of a field manager.
func refuse(w http.ResponseWriter, err error) {
	type status interface{ Status() metav1.Status }
	if conflict, is := err.(status); is {
		body := conflict.Status()
		body.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		answer(w, int(body.Code), body)
		return
	}
	failure(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, err.Error())
}
