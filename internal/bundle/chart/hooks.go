package chart

import (
	"slices"
	"strconv"
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Hook is an object that is created at an event and is no part of what is installed.
type Hook struct {
	helmrelease.Hook
	Object *unstructured.Unstructured
}

// isHook says whether an object is one of a hook.
func isHook(object *unstructured.Unstructured) bool {
	_, ok := object.GetAnnotations()[helmrelease.HookAnnotation]
	return ok
}

// takeHook reads the annotations of a hook. Those of an event that is unknown are left out,
// as Helm leaves them out, and so are tests, which nobody asks for.
func (r *Rendered) takeHook(d document, object *unstructured.Unstructured) {
	annotations := object.GetAnnotations()
	h := Hook{Object: object, Hook: helmrelease.Hook{
		Name: object.GetName(), Kind: object.GetKind(), Path: d.path, Manifest: d.text,
	}}
	for _, name := range list(annotations[helmrelease.HookAnnotation]) {
		event := helmrelease.HookEvent(name)
		switch {
		case event == helmrelease.HookTest, event == "test-success":
		case event == helmrelease.HookPreRollback, event == helmrelease.HookPostRollback:
			r.warn("%s: %s %s does not run at %s: what is put back after a failure is the objects alone", d.path, h.Kind,
				h.Name, name)
			h.Events = append(h.Events, event)
		case slices.Contains(events(), event):
			h.Events = append(h.Events, event)
		default:
			r.warn("%s: %s %s is left out, as the event %q of its hook is unknown", d.path, h.Kind, h.Name, name)
			return
		}
	}
	if len(h.Events) == 0 {
		r.warn("%s: %s %s is left out, as tests are not run", d.path, h.Kind, h.Name)
		return
	}
	h.Weight, _ = strconv.Atoi(annotations[helmrelease.HookWeightAnnotation])
	for _, policy := range list(annotations[helmrelease.HookDeleteAnnotation]) {
		h.DeletePolicies = append(h.DeletePolicies, helmrelease.HookDeletePolicy(policy))
	}
	if len(h.DeletePolicies) == 0 {
		h.DeletePolicies = []helmrelease.HookDeletePolicy{helmrelease.HookBeforeHookCreation}
	}
	for _, policy := range list(annotations[helmrelease.HookOutputLogAnnotation]) {
		h.OutputLogPolicies = append(h.OutputLogPolicies, helmrelease.HookOutputLogPolicy(policy))
	}
	r.Hooks = append(r.Hooks, h)
}

// events are those at which hooks run.
func events() []helmrelease.HookEvent {
	return []helmrelease.HookEvent{
		helmrelease.HookPreInstall, helmrelease.HookPostInstall, helmrelease.HookPreUpgrade, helmrelease.HookPostUpgrade,
		helmrelease.HookPreDelete, helmrelease.HookPostDelete, helmrelease.HookPreRollback, helmrelease.HookPostRollback,
	}
}

// list are the entries of an annotation.
func list(text string) (entries []string) {
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.ToLower(strings.TrimSpace(entry)); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}
