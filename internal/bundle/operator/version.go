// Package operator makes of an operator's description, its ClusterServiceVersion, the objects that it stands for. No
// cluster is asked: what follows from the description, the namespaces to watch and nothing else is the same everywhere.
package operator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	strictjson "sigs.k8s.io/json"
)

// Kind is the kind of the object that an operator is described by.
const Kind = "ClusterServiceVersion"

// version is what is read of a ClusterServiceVersion.
type version struct {
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Version      string        `json:"version"`
		InstallModes []installMode `json:"installModes"`
		Install      struct {
			Strategy string `json:"strategy"`
			Spec     struct {
				Deployments        []deployment `json:"deployments"`
				Permissions        []permission `json:"permissions"`
				ClusterPermissions []permission `json:"clusterPermissions"`
			} `json:"spec"`
		} `json:"install"`
		CRDs        descriptions `json:"customresourcedefinitions"`
		APIServices descriptions `json:"apiservicedefinitions"`
		Webhooks    []webhook    `json:"webhookdefinitions"`
	} `json:"spec"`
}

// deployment is a Deployment; its spec is passed on as it is.
type deployment struct {
	Name  string            `json:"name"`
	Label map[string]string `json:"label"`
	Spec  map[string]any    `json:"spec"`
}

// permission is what a service account may do.
type permission struct {
	ServiceAccountName string              `json:"serviceAccountName"`
	Rules              []rbacv1.PolicyRule `json:"rules"`
}

// descriptions are APIs that an operator brings, and those that it takes.
type descriptions struct {
	Owned    []description `json:"owned"`
	Required []description `json:"required"`
}

// description is that of a custom resource, by its definition's name, or of an API that a deployment serves.
type description struct {
	Name           string `json:"name"`
	Group          string `json:"group"`
	Version        string `json:"version"`
	Kind           string `json:"kind"`
	DeploymentName string `json:"deploymentName"`
	ContainerPort  int32  `json:"containerPort"`
}

// The types of webhooks.
const (
	validating = "ValidatingAdmissionWebhook"
	mutating   = "MutatingAdmissionWebhook"
	conversion = "ConversionWebhook"
)

// webhook is one that a deployment serves. What is not about where it is served is passed on as it is.
type webhook struct {
	Type           string              `json:"type"`
	GenerateName   string              `json:"generateName"`
	DeploymentName string              `json:"deploymentName"`
	ContainerPort  int32               `json:"containerPort"`
	TargetPort     *intstr.IntOrString `json:"targetPort"`
	WebhookPath    *string             `json:"webhookPath"`
	ConversionCRDs []string            `json:"conversionCRDs"`

	Rules                   []admissionv1.RuleWithOperations    `json:"rules"`
	FailurePolicy           *admissionv1.FailurePolicyType      `json:"failurePolicy"`
	MatchPolicy             *admissionv1.MatchPolicyType        `json:"matchPolicy"`
	ObjectSelector          *metav1.LabelSelector               `json:"objectSelector"`
	SideEffects             *admissionv1.SideEffectClass        `json:"sideEffects"`
	TimeoutSeconds          *int32                              `json:"timeoutSeconds"`
	AdmissionReviewVersions []string                            `json:"admissionReviewVersions"`
	ReinvocationPolicy      *admissionv1.ReinvocationPolicyType `json:"reinvocationPolicy"`
}

// Options say what to make of a description.
type Options struct {
	// Package is the name of the operator's package.
	Package string
	// Watch are the namespaces that the operator is to watch; none are those that it supports by itself.
	Watch []string
	// AnyWatch reads the description though it is not known yet what the operator is to watch.
	AnyWatch bool
}

// Operator is what a description stands for.
type Operator struct {
	Version string
	// Namespace is where the operator runs.
	Namespace string
	// Others are the objects beside the description, as they are to be, with their places among those that were given.
	Others []Other
	// Objects are made of the description, in the order in which they are read.
	Objects  []map[string]any
	Warnings []string
}

// Other is an object beside the description.
type Other struct {
	Object *unstructured.Unstructured
	Place  int
}

// Read makes of a ClusterServiceVersion, and of the objects beside it, those that it stands for. Problems say what is
// wrong with it, or is not supported.
func Read(object *unstructured.Unstructured, others []*unstructured.Unstructured, o Options) (op *Operator,
	problems []string,
) {
	v := &version{}
	raw, err := json.Marshal(object.Object)
	if err == nil {
		err = strictjson.UnmarshalCaseSensitivePreserveInts(raw, v)
	}
	if err != nil {
		return nil, []string{fmt.Sprintf("%s %s: %v", Kind, object.GetName(), err)}
	}
	r := &reading{version: v, others: others}
	if strategy := v.Spec.Install.Strategy; strategy != "deployment" {
		r.problem("install strategy %q is not supported, only deployment", strategy)
	}
	r.namespace = r.namespaceOf(o.Package)
	r.watch = r.targets(o.Watch, o.AnyWatch)
	r.serving()
	op = &Operator{Version: v.Spec.Version, Namespace: r.namespace}
	op.Objects = slices.Concat(r.accountsAndRoles(), r.endpoints(), r.deployments(), r.registrations())
	op.Others = r.beside()
	r.requirements()
	op.Warnings = r.warnings
	return op, r.problems
}

// reading is that of one description.
type reading struct {
	*version
	others    []*unstructured.Unstructured
	namespace string
	// watch are the namespaces that the operator watches; empty for all of them.
	watch    []string
	servers  []*server // in the order of the deployments
	problems []string
	warnings []string
}

func (r *reading) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

func (r *reading) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// namespaceOf is where the operator is installed: as it suggests, or as its package is named.
func (r *reading) namespaceOf(pkg string) string {
	name := r.Metadata.Annotations["operatorframework.io/suggested-namespace"]
	if name == "" {
		name = shorten(strings.ReplaceAll(pkg, ".", "-")+"-system", validation.DNS1123LabelMaxLength)
	}
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		r.problem("invalid namespace %q: %s", name, strings.Join(problems, "; "))
	}
	return name
}

// requirements warns of what the operator takes and the bundle does not have.
func (r *reading) requirements() {
	for _, crd := range r.Spec.CRDs.Required {
		r.warn("the operator requires the CustomResourceDefinition %s, which is not installed with it", crd.Name)
	}
	for _, crd := range r.Spec.CRDs.Owned {
		if !has(r.others, "CustomResourceDefinition", crd.Name) {
			r.warn("the bundle does not have the CustomResourceDefinition %s, which its %s describes", crd.Name, Kind)
		}
	}
	for _, api := range r.Spec.APIServices.Required {
		r.warn("the operator requires the API %s, which is not installed with it",
			cmp.Or(strings.Trim(api.Group+"/"+api.Version+" "+api.Kind, "/ "), api.Name))
	}
}
