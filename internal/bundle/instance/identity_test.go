package instance

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// A bundle is that of an instance if it was made for it, for the very template, as what it is
// to be installed as. Labels alone say nothing.
func TestBundleOfAnInstance(t *testing.T) {
	in := with("registry.example.com/shop:v1", 1)
	in.Spec.Template.Metadata.Annotations = map[string]string{v1alpha1.AnnotationContent: "sha256:1"}
	in.Spec.ServiceAccount = &v1alpha1.ServiceAccount{Namespace: "shop", Name: "deployer"}
	hash, err := templateHash(in.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(b *v1alpha1.Bundle){
		"":                       func(*v1alpha1.Bundle) {},
		"of another template":    func(b *v1alpha1.Bundle) { b.Labels[v1alpha1.LabelTemplateHash] = "0" },
		"of another source":      func(b *v1alpha1.Bundle) { b.Spec.Source.Image = &v1alpha1.ImageSource{Ref: "evil"} },
		"of another class":       func(b *v1alpha1.Bundle) { b.Spec.ProvisionerClassName = v1alpha1.ClassHelm },
		"of other content":       func(b *v1alpha1.Bundle) { b.Annotations[v1alpha1.AnnotationContent] = "sha256:2" },
		"of another instance":    func(b *v1alpha1.Bundle) { b.OwnerReferences[0].UID = "2" },
		"of no instance":         func(b *v1alpha1.Bundle) { b.OwnerReferences = nil },
		"as another account":     func(b *v1alpha1.Bundle) { b.Annotations[v1alpha1.AnnotationServiceAccount] = "shop/x" },
		"as no account at all":   func(b *v1alpha1.Bundle) { delete(b.Annotations, v1alpha1.AnnotationServiceAccount) },
		"on its way out of here": func(b *v1alpha1.Bundle) { b.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} },
	} {
		b := Reconciler{System: "ns"}.bundleOf(in, hash, 0)
		change(b)
		found, _, err := bundleFor(in, []v1alpha1.Bundle{*b})
		if err != nil || (found != nil) != (name == "") {
			t.Errorf("%q: %v, %v", name, found, err)
		}
	}
}

// What a template of a bundle says itself of the account is not what the bundle says.
func TestBundleSaysAsWhatItIsInstalled(t *testing.T) {
	in := with("a", 1)
	in.Spec.Template.Metadata.Annotations = map[string]string{v1alpha1.AnnotationServiceAccount: "shop/deployer"}
	if by, has := (Reconciler{}).bundleOf(in, "", 0).Annotations[v1alpha1.AnnotationServiceAccount]; has {
		t.Errorf("it says %q", by)
	}
}

// What a template looks up is asked with the rights of the installer, never with berth's own;
// the system namespace is left out, where it is reserved.
func TestLookupIsOfTheInstaller(t *testing.T) {
	secret := func(namespace string) *unstructured.Unstructured {
		o := kube.Named("Secret", "s")
		o.SetAPIVersion("v1")
		o.SetNamespace(namespace)
		return o
	}
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	client := func() *dynamicfake.FakeDynamicClient {
		return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{secrets: "SecretList"}, secret("ns"), secret("shop"))
	}
	own, installs := client(), client()
	r := Reconciler{
		Own:      &kube.Client{Interface: fake.NewClientset(), Dynamic: own},
		Installs: &kube.Client{Interface: fake.NewClientset(), Dynamic: installs},
		System:   "ns", Reserved: installer.Reserved{System: "ns"},
	}
	all, err := r.lookup(t.Context(), "v1", "Secret", "", "")
	if items, _ := all["items"].([]any); err != nil || len(items) != 1 {
		t.Errorf("it finds %v, %v", all, err)
	}
	if found, err := r.lookup(t.Context(), "v1", "Secret", "shop", "s"); err != nil || found == nil {
		t.Errorf("it finds %v, %v", found, err)
	}
	for says, of := range map[string]struct{ kind, namespace, name string }{
		"every Secret in the system namespace ns": {"Secret", "ns", ""},
		"secret/s in the system namespace ns":     {"Secret", "ns", "s"},
		"the system namespace ns":                 {"Namespace", "", "ns"},
	} {
		found, err := r.lookup(t.Context(), "v1", of.kind, of.namespace, of.name)
		if fault.CodeOf(err) != fault.Failed || found != nil || err.Error() != "the template looks up "+says+
			", which bundles leave alone" {
			t.Errorf("it finds %v, %v", found, err)
		}
	}
	r.Reserved = installer.Reserved{}
	if found, err := r.lookup(t.Context(), "v1", "Secret", "ns", "s"); err != nil || found == nil {
		t.Errorf("it finds %v, %v", found, err)
	}
	if len(own.Actions()) > 0 || len(installs.Actions()) == 0 {
		t.Errorf("berth itself asks for %v", own.Actions())
	}
}

// A permission that is missing is said to be that of the installer, with what to do; all else
// stays as it is.
func TestDenied(t *testing.T) {
	forbidden := func(text string) error {
		return kube.Fault(apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "s", errors.New(text)),
			kube.Call{Verb: "create", Resource: "services", Namespace: "shop"})
	}
	lacks := forbidden(`User "system:serviceaccount:shop:deployer" cannot create resource "services" in API group "" in the namespace "shop"`)
	cannot := forbidden(`User "system:serviceaccount:ns:berth-bundles" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "shop"`)
	r := Reconciler{account: &v1alpha1.ServiceAccount{Namespace: "shop", Name: "deployer"}}
	for says, err := range map[string]error{
		"the ServiceAccount shop/deployer lacks a permission: you may not create services in namespace shop": lacks,
		"`berth serve manifests bundles --service-account shop/deployer`":                                    cannot,
	} {
		if got := why(r.denied(err)); !strings.Contains(got, says) || fault.CodeOf(r.denied(err)) != fault.PermissionDenied {
			t.Errorf("%q, want %q", got, says)
		}
		if got := (Reconciler{}).denied(err); got != err { //nolint:errorlint // the very one
			t.Errorf("at a terminal it is %v", got)
		}
	}
	if other := fault.New(fault.Failed, "x"); r.denied(other) != error(other) { //nolint:errorlint // the very one
		t.Error("another error is changed")
	}
}
