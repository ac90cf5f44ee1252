package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Bundle is content from a source. Its spec cannot be changed.
type Bundle struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   BundleSpec   `json:"spec"`
	Status BundleStatus `json:"status,omitzero"`
}

// BundleSpec says what to unpack, and whose work that is.
type BundleSpec struct {
	ProvisionerClassName string `json:"provisionerClassName"`
	Source               Source `json:"source"`
}

// Phase is how far a bundle is.
type Phase string

// The phases of a bundle.
const (
	PhasePending   Phase = "Pending"
	PhaseUnpacking Phase = "Unpacking"
	PhaseFailing   Phase = "Failing"
	PhaseUnpacked  Phase = "Unpacked"
)

// BundleStatus is what became of a bundle. Unless it is unpacked it has no resolved
// source, no digest and no URL.
type BundleStatus struct {
	Phase              Phase              `json:"phase,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ResolvedSource     *Source            `json:"resolvedSource,omitempty"`
	// Digest is that of the content.
	Digest string `json:"digest,omitempty"`
	// ContentURL is where the content is served, as a tar file compressed with gzip.
	ContentURL string `json:"contentURL,omitempty"`
}

// ConditionUnpacked is the one condition of a bundle.
const ConditionUnpacked = "Unpacked"

// The reasons of ConditionUnpacked; the last two are also those of
// ConditionHasValidBundle.
const (
	ReasonUnpackPending    = "UnpackPending"
	ReasonUnpacking        = "Unpacking"
	ReasonFinalizerFailed  = "ProcessingFinalizerFailed"
	ReasonUnpackFailed     = "UnpackFailed"
	ReasonUnpackSuccessful = "UnpackSuccessful"
)
