// Package injection is the pure core of injecting a workspace into a running
// workload and of taking it out again: the parts, both patches, and what prevents
// them.
package injection

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Record is the annotation of a workload about the workspace that is injected into
// it. The first five keys are a convention that others read and write as well;
// the rest is what eject needs to leave the template as it was.
type Record struct {
	CanonicalID    string   `json:"canonicalId"`
	Containers     []string `json:"containers"`
	InitContainers []string `json:"initContainers"`
	Volumes        []string `json:"volumes"`
	// SharePID is shareProcessNamespace before; null if it was absent.
	SharePID *bool `json:"sharePID"`

	// UserString is the workspace's: two may have one ID.
	UserString string `json:"userString,omitempty"`
	// Hash is over everything that goes into the workload, but for the job.
	Hash string `json:"hash,omitempty"`
	// Labels and Annotations are the keys that were set on the template.
	Labels      []string `json:"labels,omitempty"`
	Annotations []string `json:"annotations,omitempty"`
	// Replaced are the values that keys of those had before.
	Replaced Replaced `json:"replaced,omitzero"`
}

// Replaced are labels and annotations that the template had already.
type Replaced struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// RecordOf reads the record of a workload; nil if nothing is injected into it.
func RecordOf(annotations map[string]string) (*Record, error) {
	text, ok := annotations[kube.AnnotationInjection]
	if !ok {
		return nil, nil
	}
	var r Record
	if err := json.Unmarshal([]byte(text), &r); err != nil || len(validation.IsDNS1123Subdomain(r.CanonicalID)) > 0 {
		return nil, fault.New(fault.Conflict, "the annotation %s of the workload cannot be read: %.*q",
			kube.AnnotationInjection, shownText, text).
			WithHint("correct it, or remove it together with what was injected")
	}
	if r.Labels == nil { // written by another program
		r.Labels = conventionalLabels()
	}
	if r.Annotations == nil {
		r.Annotations = []string{kube.AnnotationUserString}
	}
	return &r, nil
}

// shownText is how much of an annotation is shown.
const shownText = 200

// own are those of the names that are the workspace's: they begin with its ID.
func (r *Record) own(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names),
		func(name string) bool { return !strings.HasPrefix(name, r.CanonicalID+"-") })
}

// injectable are those of the keys that an injection can have set.
func injectable(keys []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !strings.HasPrefix(key, keyPrefix) })
}

// keyPrefix begins every label and annotation of a workspace's pod.
const keyPrefix = "k8shell.io/"

// conventionalLabels are those that a pod template can have of an injection.
func conventionalLabels() []string {
	return []string{
		kube.LabelBlueprint, kube.LabelCanonicalID, kube.LabelInjected, kube.LabelJobID, "k8shell.io/k8shelld-version",
		"k8shell.io/network-policy", kube.LabelOrganization, "k8shell.io/subdomain", kube.LabelUsername,
		kube.LabelWorkloadKind, kube.LabelWorkloadName,
	}
}
