// Package v1alpha1 has the objects in which the state of bundles is kept on the
// cluster, group core.rukpak.io/v1alpha1, cluster scoped: a Bundle is content that
// has been fetched and unpacked, a BundleInstance is what keeps one installed. The
// same API is spoken by other programs, so names and meanings are theirs.
package v1alpha1

import "k8s.io/apimachinery/pkg/runtime/schema"

// The kinds and their resources.
const (
	Group = "core.rukpak.io"

	KindBundle   = "Bundle"
	KindInstance = "BundleInstance"
)

// GroupVersion is that of every object in this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: Group, Version: "v1alpha1"}
}

// Bundles is the resource of bundles.
func Bundles() schema.GroupVersionResource { return GroupVersion().WithResource("bundles") }

// Instances is the resource of bundle instances.
func Instances() schema.GroupVersionResource { return GroupVersion().WithResource("bundleinstances") }

// The classes of objects that berth reconciles: unique names of its own. Objects of
// any other class are left alone.
const (
	ClassPlain    = "berth-dev-plain"
	ClassHelm     = "berth-dev-helm"
	ClassRegistry = "berth-dev-registry"
)

// Names are bounded, as a bundle is named by its instance and a hash, and a release
// by its instance.
const (
	MaxInstanceName = 45
	MaxBundleName   = 52
)

// The labels that a bundle of an instance, and everything that the instance has
// installed, carries.
const (
	LabelOwnerKind    = "core.rukpak.io/owner-kind"
	LabelOwnerName    = "core.rukpak.io/owner-name"
	LabelTemplateHash = "core.rukpak.io/bundle-template-hash"
)

// AnnotationContent is the digest of an upload, on the template of its bundle: other
// content is another bundle.
const AnnotationContent = "berth.dev/content"

// AnnotationCharts are the versions of what a chart depends on, as PATH VERSION with commas between them, on the
// template of a bundle that is to be what it was: each is fetched unless a lock of the chart says another.
const AnnotationCharts = "berth.dev/charts"

// Classes are those that berth reconciles.
func Classes() []string { return []string{ClassPlain, ClassHelm, ClassRegistry} }

// AnnotationUninstalling is on an instance from the beginning of its uninstallation, with the
// time of it: nobody puts back what is removed. Anyone who installs it again takes it off.
const AnnotationUninstalling = "berth.dev/uninstalling"

// AnnotationSystemNamespace is the namespace in which what belongs to the instance of a
// bundle is recorded and locked.
const AnnotationSystemNamespace = "berth.dev/system-namespace"

// AnnotationServiceAccount is on the bundle of an instance that names a ServiceAccount, as
// NAMESPACE/NAME: what is installed as that one comes only from those who may act as it.
const AnnotationServiceAccount = "berth.dev/service-account"
