package operator

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/bundle/certificate"
)

// checkWebhook says what is wrong with a webhook, or is refused as the Operator Lifecycle Manager does: one that is
// asked about the objects of every group, or about webhooks, could keep the cluster from being put right.
func (r *reading) checkWebhook(what string, w webhook) {
	switch w.Type {
	case conversion:
		r.checkConversion(what, w)
		return
	case validating, mutating:
	default:
		r.problem("%s: the type of a webhook is %s, %s or %s", what, validating, mutating, conversion)
		return
	}
	if problems := validation.IsDNS1123Subdomain(w.GenerateName); len(problems) > 0 {
		r.problem("%s: invalid generateName: %s", what, strings.Join(problems, "; "))
	}
	refuse := func(has string) {
		r.problem("%s: a rule has %s, which an operator's webhook may not be asked about", what, has)
	}
	for _, rule := range w.Rules {
		switch {
		case slices.Contains(rule.APIGroups, "*"):
			refuse("all groups")
		case slices.Contains(rule.APIGroups, "operators.coreos.com"):
			refuse("the group operators.coreos.com")
		case slices.Contains(rule.APIGroups, "admissionregistration.k8s.io") &&
			slices.ContainsFunc(rule.Resources, isOfWebhooks):
			refuse("the configurations of webhooks")
		}
	}
}

// isOfWebhooks is true for what in a rule stands for the configurations of webhooks, in the spellings that are met.
func isOfWebhooks(resource string) bool {
	switch strings.TrimSuffix(strings.ToLower(resource), "s") {
	case "*", "*/*", "validatingwebhookconfiguration", "mutatingwebhookconfiguration":
		return true
	}
	return false
}

// checkConversion says what is wrong with a webhook that converts custom resources.
func (r *reading) checkConversion(what string, w webhook) {
	if len(w.ConversionCRDs) == 0 {
		r.problem("%s: conversionCRDs: required", what)
	}
	for _, name := range w.ConversionCRDs {
		i := slices.IndexFunc(r.others, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == "CustomResourceDefinition" && o.GetName() == name
		})
		if i < 0 {
			r.problem("%s: the bundle does not have the CustomResourceDefinition %s", what, name)
			continue
		}
		if preserves, _, _ := unstructured.NestedBool(r.others[i].Object, "spec", "preserveUnknownFields"); preserves {
			r.problem("%s: the CustomResourceDefinition %s has spec.preserveUnknownFields, whose objects no webhook "+
				"converts", what, name)
		}
	}
}

// checkUnique says which webhooks there are twice.
func (r *reading) checkUnique() {
	seen := map[[2]string]bool{}
	for _, w := range r.Spec.Webhooks {
		names := []string{w.GenerateName}
		if w.Type == conversion {
			names = w.ConversionCRDs
		}
		for _, name := range names {
			if seen[[2]string{w.Type, name}] {
				r.problem("there is more than one %s for %s", w.Type, name)
			}
			seen[[2]string{w.Type, name}] = true
		}
	}
}

// configuration tells the API server to ask a webhook, about objects of the namespaces that the operator watches. Its
// name is the same for every version of the operator.
func (r *reading) configuration(w *webhook, s *server) map[string]any {
	kind := "ValidatingWebhookConfiguration"
	if w.Type == mutating {
		kind = "MutatingWebhookConfiguration"
	}
	suffix := "-" + digest(r.namespace+"/"+w.DeploymentName)
	name := shorten(w.GenerateName, validation.DNS1123SubdomainMaxLength-len(suffix)) + suffix
	object := plainObject("admissionregistration.k8s.io/v1", kind, "", name)
	hook := map[string]any{
		"name":                    fullName(w.GenerateName),
		"clientConfig":            map[string]any{"service": r.reference(w, s)},
		"admissionReviewVersions": generic(reviewVersions(w)),
	}
	set := func(field string, value any) {
		if value = generic(value); value != nil {
			hook[field] = value
		}
	}
	set("rules", w.Rules)
	set("failurePolicy", w.FailurePolicy)
	set("matchPolicy", w.MatchPolicy)
	set("objectSelector", w.ObjectSelector)
	set("sideEffects", w.SideEffects)
	set("timeoutSeconds", w.TimeoutSeconds)
	if w.Type == mutating {
		set("reinvocationPolicy", w.ReinvocationPolicy)
	}
	if len(r.watch) > 0 {
		set("namespaceSelector", map[string]any{"matchExpressions": []any{map[string]any{
			"key": "kubernetes.io/metadata.name", "operator": "In", "values": r.watch,
		}}})
	}
	object["webhooks"] = []any{hook}
	return certificate.From(object, r.namespace, s.secret)
}

// fullName is the name of a webhook, which has to have three parts.
func fullName(name string) string {
	for strings.Count(name, ".") < 2 {
		name += ".webhook"
	}
	return name
}

// reference is where the API server finds a webhook.
func (r *reading) reference(w *webhook, s *server) map[string]any {
	reference := map[string]any{"name": s.service, "namespace": r.namespace, "port": int64(w.port())}
	if w.WebhookPath != nil {
		reference["path"] = *w.WebhookPath
	}
	return reference
}

// reviewVersions are the versions of reviews that a webhook knows.
func reviewVersions(w *webhook) []string {
	if len(w.AdmissionReviewVersions) == 0 {
		return []string{"v1"}
	}
	return w.AdmissionReviewVersions
}

// converted is a definition whose objects a webhook of the operator converts, with that; any other as it is.
func (r *reading) converted(crd *unstructured.Unstructured) *unstructured.Unstructured {
	for i := range r.Spec.Webhooks {
		w := &r.Spec.Webhooks[i]
		s := r.serverOf(w.DeploymentName)
		if w.Type != conversion || s == nil || !slices.Contains(w.ConversionCRDs, crd.GetName()) {
			continue
		}
		crd = crd.DeepCopy()
		reference := r.reference(w, s)
		reference["path"] = cmp.Or(textOf(reference["path"]), "/")
		_ = unstructured.SetNestedMap(crd.Object, map[string]any{
			"strategy": "Webhook",
			"webhook": map[string]any{
				"clientConfig":             map[string]any{"service": reference},
				"conversionReviewVersions": generic(reviewVersions(w)),
			},
		}, "spec", "conversion")
		certificate.From(crd.Object, r.namespace, s.secret)
	}
	return crd
}
