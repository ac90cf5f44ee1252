package resource

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// The hash is part of the API: a bundle is found by it, by any version of berth.
func TestTemplateHash(t *testing.T) {
	template := v1alpha1.Template{Spec: v1alpha1.BundleSpec{
		ProvisionerClassName: v1alpha1.ClassPlain,
		Source: v1alpha1.Source{
			Type:  v1alpha1.SourceImage,
			Image: &v1alpha1.ImageSource{Ref: "registry.example.com/shop:v1"},
		},
	}}
	hash, err := TemplateHash(template)
	if err != nil || hash != "1d659c3b4cffdfe290c440a8d41b892bbfae968d" {
		t.Errorf("the hash of a template has changed: %s, %v", hash, err)
	}
	name, next := bundleName(strings.Repeat("x", v1alpha1.MaxInstanceName), hash, 0), bundleName("x", hash, 1)
	if len(name) != v1alpha1.MaxBundleName || next == bundleName("x", hash, 0) {
		t.Errorf("%s, %s", name, next)
	}
}

// A bundle is that of an instance if it was made for it, for the very template, as what it is
// to be installed as. Labels alone say nothing.
func TestBundleOfAnInstance(t *testing.T) {
	in := imageInstance("registry.example.com/shop:v1")
	in.Spec.Template.Metadata.Annotations = map[string]string{v1alpha1.AnnotationContent: "sha256:1"}
	in.Spec.ServiceAccount = &v1alpha1.ServiceAccount{Namespace: "shop", Name: "deployer"}
	hash, err := TemplateHash(in.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(b *v1alpha1.Bundle){
		"":                    func(*v1alpha1.Bundle) {},
		"of another template": func(b *v1alpha1.Bundle) { b.Labels[v1alpha1.LabelTemplateHash] = "0" },
		"of another source":   func(b *v1alpha1.Bundle) { b.Spec.Source.Image = &v1alpha1.ImageSource{Ref: "evil"} },
		"of another class":    func(b *v1alpha1.Bundle) { b.Spec.ProvisionerClassName = v1alpha1.ClassHelm },
		"of other content":    func(b *v1alpha1.Bundle) { b.Annotations[v1alpha1.AnnotationContent] = "sha256:2" },
		"of another instance": func(b *v1alpha1.Bundle) { b.OwnerReferences[0].UID = "2" },
		"of no instance":      func(b *v1alpha1.Bundle) { b.OwnerReferences = nil },
		"as another account": func(b *v1alpha1.Bundle) {
			b.Annotations[v1alpha1.AnnotationServiceAccount] = "shop/x"
		},
		"as no account at all": func(b *v1alpha1.Bundle) { delete(b.Annotations, v1alpha1.AnnotationServiceAccount) },
		"on its way out of here": func(b *v1alpha1.Bundle) {
			b.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		},
	} {
		b := NewBundle(in, hash, 0, "ns")
		change(b)
		found, _, err := BundleFor(in, []v1alpha1.Bundle{*b})
		if err != nil || (found != nil) != (name == "") {
			t.Errorf("%q: %v, %v", name, found, err)
		}
	}
}

// imageInstance is an instance whose bundle is an image.
func imageInstance(ref string) *v1alpha1.Instance {
	in := instance("")
	in.UID = "1"
	in.Spec.Template.Spec = v1alpha1.BundleSpec{
		ProvisionerClassName: v1alpha1.ClassPlain,
		Source:               v1alpha1.Source{Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: ref}},
	}
	return in
}

// What a template of a bundle says itself of the account is not what the bundle says.
func TestBundleSaysAsWhatItIsInstalled(t *testing.T) {
	in := imageInstance("a")
	in.Spec.Template.Metadata.Annotations = map[string]string{v1alpha1.AnnotationServiceAccount: "shop/deployer"}
	if by, has := NewBundle(in, "", 0, "").Annotations[v1alpha1.AnnotationServiceAccount]; has {
		t.Errorf("it says %q", by)
	}
}
