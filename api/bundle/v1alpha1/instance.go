package v1alpha1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Instance is a BundleInstance: it keeps the bundle of its template installed.
type Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   InstanceSpec   `json:"spec"`
	Status InstanceStatus `json:"status,omitzero"`
}

// InstanceSpec says what to install, and whose work that is.
type InstanceSpec struct {
	ProvisionerClassName string   `json:"provisionerClassName"`
	Template             Template `json:"template"`
	// ServiceAccount is the one that the bundle is installed as; nil for the installer of the
	// server.
	ServiceAccount *ServiceAccount `json:"serviceAccount,omitempty"`
	// Config depends on the class; berth reads a Config.
	Config json.RawMessage `json:"config,omitempty"`
}

// ServiceAccount is a ServiceAccount of the cluster.
type ServiceAccount struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String is the ServiceAccount as NAMESPACE/NAME; empty for nil.
func (s *ServiceAccount) String() string {
	if s == nil {
		return ""
	}
	return s.Namespace + "/" + s.Name
}

// Template is the bundle of an instance.
type Template struct {
	Metadata TemplateMeta `json:"metadata,omitzero"`
	Spec     BundleSpec   `json:"spec"`
}

// TemplateMeta is what the bundle of a template carries.
type TemplateMeta struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Config is what an instance of berth's classes can set.
type Config struct {
	// Values are those of a chart: a text of YAML.
	Values string `json:"values,omitempty"`
	// Namespace is that of objects which name none.
	Namespace string `json:"namespace,omitempty"`
	// Format is what the content is read as, if it may be several of the class: yaml or kustomize.
	Format string `json:"format,omitempty"`
	// WatchNamespaces are those that an operator is to watch; none are all of them, or its own if it does not support
	// that.
	WatchNamespaces []string `json:"watchNamespaces,omitempty"`
	// Requested is when somebody asked for the same once more, after it had failed; any
	// text.
	Requested string `json:"requested,omitempty"`
}

// InstanceStatus is what became of an instance.
type InstanceStatus struct {
	ObservedGeneration  int64              `json:"observedGeneration,omitempty"`
	Conditions          []metav1.Condition `json:"conditions,omitempty"`
	InstalledBundleName string             `json:"installedBundleName,omitempty"`
}

// The conditions of an instance.
const (
	ConditionHasValidBundle = "HasValidBundle"
	ConditionInstalled      = "Installed"
	ConditionHealthy        = "Healthy"
)

// The reasons of an instance's conditions, with those of a bundle.
const (
	ReasonBundleLoadFailed         = "BundleLoadFailed"
	ReasonReadingContentFailed     = "ReadingContentFailed"
	ReasonErrorGettingClient       = "ErrorGettingClient"
	ReasonErrorGettingReleaseState = "ErrorGettingReleaseState"
	ReasonInstallFailed            = "InstallFailed"
	ReasonUpgradeFailed            = "UpgradeFailed"
	ReasonReconcileFailed          = "ReconcileFailed"
	ReasonInstallationSucceeded    = "InstallationSucceeded"
	ReasonInstallationStatusFalse  = "InstallationStatusFalse"
	ReasonUnhealthy                = "Unhealthy"
	ReasonObjectsFailed            = "ObjectsFailed" // what will not pass keeps one of them from being healthy
	ReasonHealthy                  = "Healthy"
)
