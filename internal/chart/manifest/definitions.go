package manifest

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Definitions are the kinds of custom resources that are known, each version with the schema of its objects.
type Definitions map[schema.GroupVersionKind]node

// Add adds the kinds of a definition, unless they are known already. What is no definition is passed over.
func (d Definitions) Add(object *unstructured.Unstructured) {
	if !IsDefinition(object) {
		return
	}
	spec, _ := object.Object["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		of, _ := version["schema"].(map[string]any)
		top, _ := of["openAPIV3Schema"].(map[string]any)
		if open, _ := spec["preserveUnknownFields"].(bool); open {
			top = nil
		}
		if gvk := (schema.GroupVersionKind{Group: group, Version: name, Kind: kind}); !d.has(gvk) {
			d[gvk] = top
		}
	}
}

// IsDefinition is true for a CustomResourceDefinition.
func IsDefinition(object *unstructured.Unstructured) bool {
	return object.GetKind() == "CustomResourceDefinition" && object.GetAPIVersion() == "apiextensions.k8s.io/v1"
}

// Unknown is an object whose fields are compared with nothing, or not all of them, and why.
type Unknown struct {
	Object *unstructured.Unstructured
	Reason string
	// Elsewhere is true if its kind may be defined in a cluster.
	Elsewhere bool
}

// Unknown says why the fields of an object cannot be compared with those of its kind; false if they can.
func (d Definitions) Unknown(object *unstructured.Unstructured) (why Unknown, is bool) {
	why.Object = object
	gvk := object.GroupVersionKind()
	top, defined := d[gvk]
	switch {
	case scheme.Scheme.Recognizes(gvk):
		return why, false
	case defined && top.takesAll():
		why.Reason = "its definition takes any field"
	case defined:
		return why, false
	case d.defines(gvk.GroupKind()):
		why.Reason = "the definition of its kind in the bundle has no version " + gvk.Version
	case scheme.Scheme.IsGroupRegistered(gvk.Group), owned()[gvk.Group]:
		why.Reason = fmt.Sprintf("berth does not know the fields of kind %s of %s", gvk.Kind, gvk.GroupVersion())
	default:
		why.Reason, why.Elsewhere = "the definition of its kind is not in the bundle", true
	}
	return why, true
}

// owned are groups of Kubernetes itself of which no kind is known here.
func owned() map[string]bool {
	return map[string]bool{"apiextensions.k8s.io": true, "apiregistration.k8s.io": true}
}

func (d Definitions) has(gvk schema.GroupVersionKind) bool {
	_, is := d[gvk]
	return is
}

func (d Definitions) defines(kind schema.GroupKind) bool {
	for gvk := range d {
		if gvk.GroupKind() == kind {
			return true
		}
	}
	return false
}

// Fit is what became of a custom resource.
type Fit struct {
	// Absent are the fields that its definition does not have, which are gone from it.
	Absent []string
	// Dropped says what else is gone: from its metadata, which is the same for every kind.
	Dropped []string
	// Refused says what the API server would not take.
	Refused []string
}

// Fit makes of a custom resource one that the API server takes at each update, as that of a kind that Kubernetes itself
// has: fields that its definition does not have go, as they do when it is created, and two entries of a list that its
// definition tells apart by what is the same in both are refused.
func (d Definitions) Fit(object *unstructured.Unstructured) Fit {
	top, defined := d[object.GroupVersionKind()]
	if !defined || top.takesAll() {
		return Fit{}
	}
	c := &custom{}
	c.metadata(object.Object)
	c.fields(object.Object, top, "", true)
	return Fit{Absent: c.absent, Dropped: c.dropped, Refused: c.refused}
}

// Conform fits the custom resources that were read into the definitions that were read, and adds what is wrong with
// them; changed are the places of those that are not as they were written.
func (r *Reader) Conform() (changed map[int]bool) {
	known := Definitions{}
	for _, object := range r.objects {
		known.Add(object)
	}
	changed = map[int]bool{}
	for i, object := range r.objects {
		fit := known.Fit(object)
		r.file = r.places[r.identityOf(object)]
		for _, text := range fit.Dropped {
			r.warn(0, label(object)+text)
		}
		for _, field := range fit.Absent {
			r.warn(0, label(object)+field+leftOut)
		}
		for _, text := range fit.Refused {
			r.problem(0, "%s%s", label(object), text)
		}
		changed[i] = len(fit.Dropped)+len(fit.Absent) > 0
		if why, is := known.Unknown(object); is {
			r.unknown = append(r.unknown, why)
		}
	}
	r.file = ""
	return changed
}

// Unknown are the objects that were not compared with what is known of their kinds: see Conform.
func (r *Reader) Unknown() []Unknown { return slices.Clip(r.unknown) }
