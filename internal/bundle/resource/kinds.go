// Package resource is the objects of bundles and instances: what an instance says, the bundle of its template,
// conditions, states in a word, the definitions of the kinds, and how all of them are read and written.
package resource

import (
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply/hooks"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// FormatOf is the format of a class; empty for another program's.
func FormatOf(class string) format.Format {
	switch class {
	case v1alpha1.ClassPlain:
		return format.Plain
	case v1alpha1.ClassHelm:
		return format.Helm
	case v1alpha1.ClassRegistry:
		return format.Registry
	}
	return ""
}

// ReadAs is the class by which an instance of berth's reads the content of its bundle: its own, which that of the
// bundle has to be, unless another program has unpacked it. A bundle of an operator becomes plain objects, so that an
// instance of plain manifests may have one.
func ReadAs(in *v1alpha1.Instance, b *v1alpha1.Bundle) (string, error) {
	class, of := in.Spec.ProvisionerClassName, b.Spec.ProvisionerClassName
	switch {
	case of == class || !IsOurs(of):
		return class, nil
	case class == v1alpha1.ClassPlain && of == v1alpha1.ClassRegistry:
		return of, nil
	}
	return "", fault.New(fault.InvalidArgument, "instance %s is of class %s, which does not install the %s that its "+
		"bundle of class %s has", in.Name, class, FormatOf(of), of).
		WithHint("give both the class %s", of)
}

// ClassOf is the class of a format.
func ClassOf(f format.Format) string {
	switch f {
	case format.Helm:
		return v1alpha1.ClassHelm
	case format.Registry:
		return v1alpha1.ClassRegistry
	}
	return v1alpha1.ClassPlain
}

// DefinitionsCommand is what an administrator runs where the caller may not define kinds.
const DefinitionsCommand = "berth bundle definitions | kubectl apply -f -"

// Definitions are the CustomResourceDefinitions of bundles and instances.
func Definitions() (objects []*unstructured.Unstructured, err error) {
	documents, err := v1alpha1.Definitions()
	if err != nil {
		return nil, err
	}
	for _, document := range documents {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// OwnerReference is the reference by which the cluster removes what belongs to an instance
// that is deleted.
func OwnerReference(in *v1alpha1.Instance, controller bool) metav1.OwnerReference {
	ref := metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.KindInstance,
		Name: in.Name, UID: in.UID,
	}
	if controller {
		ref.Controller = &controller
	}
	return ref
}

// CheckName refuses what cannot be the name of an instance, which is also the name of
// its release and the beginning of those of its bundles.
func CheckName(name string) error {
	switch problems, n := validation.IsDNS1123Label(name), utf8.RuneCountInString(name); {
	case name == "":
		return fault.New(fault.InvalidArgument, "the name of the instance is empty")
	case n > v1alpha1.MaxInstanceName:
		return fault.New(fault.InvalidArgument, "the name %q has %d characters; that of an instance has at most %d",
			name, n, v1alpha1.MaxInstanceName)
	case len(problems) > 0:
		return fault.New(fault.InvalidArgument,
			"%q cannot be the name of an instance: use lower-case letters, digits and hyphens, with a letter or "+
				"digit at both ends", name)
	}
	return nil
}

// IsOurs is true for a class that berth reconciles.
func IsOurs(class string) bool {
	switch class {
	case v1alpha1.ClassPlain, v1alpha1.ClassHelm, v1alpha1.ClassRegistry:
		return true
	}
	return false
}

// Marks are the labels and annotations that berth adds to the objects of a bundle.
func Marks() []string {
	return []string{
		"app.kubernetes.io/managed-by", "meta.helm.sh/release-name", "meta.helm.sh/release-namespace",
		v1alpha1.LabelOwnerKind, v1alpha1.LabelOwnerName, kube.AnnotationLock, kube.AnnotationApplied, hooks.Annotation,
	}
}
