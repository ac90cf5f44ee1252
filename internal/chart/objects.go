package chart

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/chart/manifest"
)

// document is a part of what a template makes, with its objects: those from first to last.
type document struct {
	path, text, kind string
	first, last      int
}

// take takes the objects, hooks and notes out of what the templates make.
func (r *Rendered) take(ctx context.Context, texts map[string]string, o Options) []string {
	r.Notes = texts[path.Join(r.Chart.Name(), "templates", "NOTES.txt")]
	reader := &manifest.Reader{
		Namespace: o.Release.Namespace, Several: isHook, Unchecked: r.trusted, Fits: !r.trusted,
		Newer: o.Capabilities.Newer(),
	}
	r.Objects = r.definitions(reader)
	var documents []document
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if strings.HasSuffix(name, "NOTES.txt") {
			continue
		}
		for lines, text := range parts(texts[name]) {
			if ctx.Err() != nil {
				return nil
			}
			objects, _ := reader.Objects()
			first, warned := len(objects), len(reader.Warnings())
			reader.ReadPart(name, lines, []byte(text+"\n")) // as in the manifest
			if objects, _ = reader.Objects(); len(objects) > first {
				if len(reader.Warnings()) > warned {
					text = written(objects[first:]) // the record has what is applied
				}
				d := document{name, text, objects[first].GetKind(), first, len(objects)}
				if d.last-d.first > 1 {
					d.kind = kindOf(text)
				}
				documents = append(documents, d)
			}
		}
	}
	if !r.trusted {
		conform(reader, documents)
	}
	if problems := reader.Problems(); len(problems) > 0 {
		return problems
	}
	r.Unknown = reader.Unknown()
	for _, warning := range reader.Warnings() {
		r.warn("%s", warning)
	}
	r.sortOut(documents, reader)
	if len(r.Objects)+len(r.Hooks) == 0 {
		r.warn("the chart makes no object with these values")
	}
	return nil
}

// conform fits custom resources into the definitions of the chart. The record has what is applied then.
func conform(reader *manifest.Reader, documents []document) {
	changed := reader.Conform()
	objects, _ := reader.Objects()
	for i := range documents {
		d := &documents[i]
		for at := d.first; at < d.last; at++ {
			if changed[at] {
				d.text = written(objects[d.first:d.last])
			}
		}
	}
}

// written are objects as documents of YAML.
func written(objects []*unstructured.Unstructured) string {
	var documents []string
	for _, object := range objects {
		text, _ := yaml.Marshal(object.Object) // it has been read from YAML
		documents = append(documents, strings.TrimSuffix(string(text), "\n"))
	}
	return strings.Join(documents, "\n---\n")
}

// definitions reads crds/ of the chart and its subcharts. Of two with one name the first counts, as with Helm, which
// creates none that is there.
func (r *Rendered) definitions(reader *manifest.Reader) (first []*unstructured.Unstructured) {
	several := reader.Several
	reader.Several = func(*unstructured.Unstructured) bool { return true }
	for _, crd := range r.Chart.CRDObjects() {
		reader.Read(crd.Filename, crd.File.Data)
	}
	reader.Several = several
	all, files := reader.Objects()
	places := map[string]int{}
	for i, object := range all {
		key := object.GroupVersionKind().GroupKind().String() + " " + object.GetName()
		at, twice := places[key]
		if !twice {
			places[key] = i
			first = append(first, object)
		} else if !reflect.DeepEqual(object.Object, all[at].Object) {
			r.warn("%s: %s %s is not that of %s, which is the one that is installed", files[i], object.GetKind(),
				object.GetName(), files[at])
		}
	}
	return first
}

// sortOut parts hooks from the other documents, which it puts into Helm's order.
func (r *Rendered) sortOut(documents []document, reader *manifest.Reader) {
	objects, _ := reader.Objects()
	ranks := ranks()
	slices.SortStableFunc(documents, func(a, b document) int { return byKind(ranks, a.kind, b.kind) })
	var text strings.Builder
	for _, d := range documents {
		if d.last-d.first == 1 && isHook(objects[d.first]) && !r.trusted {
			r.takeHook(d, objects[d.first])
			continue
		}
		r.Objects = append(r.Objects, objects[d.first:d.last]...)
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", d.path, d.text)
	}
	r.Manifest = text.String()
	slices.SortStableFunc(r.Hooks, func(a, b Hook) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), strings.Compare(a.Name, b.Name))
	})
}

// parts gives the documents of a text where Helm parts them, with the number of lines in front of
// each: at --- at the beginning of a line, unless there is nothing but another one above it.
func parts(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		start, end, after := 0, 0, len("---")
		for first := strings.HasPrefix(text, "---"); ; first = false {
			if i := strings.Index(text[start:], "\n---"); i >= 0 && !first {
				end, after = start+i, start+i+len("\n---")
			} else if !first {
				end, after = len(text), len(text)
			}
			if part := strings.TrimSpace(text[start:end]); part != "" {
				before := strings.Count(text[:start+strings.Index(text[start:], part)], "\n")
				if !yield(before, part) {
					return
				}
			}
			if end == len(text) {
				return
			}
			start = len(text) - len(strings.TrimLeft(text[after:], " \t\n\f\r"))
		}
	}
}

// kindOf is the kind of a list.
func kindOf(text string) string {
	var head struct {
		Kind string `json:"kind"`
	}
	if yaml.Unmarshal([]byte(text), &head) != nil {
		return ""
	}
	return head.Kind
}

// ranks are the places of kinds in the order in which Helm installs them.
func ranks() map[string]int {
	ranks := map[string]int{}
	for i, kind := range strings.Fields(`PriorityClass Namespace NetworkPolicy ResourceQuota LimitRange
		PodSecurityPolicy PodDisruptionBudget ServiceAccount Secret SecretList ConfigMap StorageClass PersistentVolume
		PersistentVolumeClaim CustomResourceDefinition ClusterRole ClusterRoleList ClusterRoleBinding
		ClusterRoleBindingList Role RoleList RoleBinding RoleBindingList Service DaemonSet Pod ReplicationController
		ReplicaSet Deployment HorizontalPodAutoscaler StatefulSet Job CronJob IngressClass Ingress APIService`) {
		ranks[kind] = i + 1
	}
	return ranks
}

// byKind compares two kinds: those that Helm does not know are the last, by their names.
func byKind(ranks map[string]int, a, b string) int {
	first, second := ranks[a], ranks[b]
	switch {
	case first == 0 && second == 0:
		return strings.Compare(a, b)
	case first == 0:
		return 1
	case second == 0:
		return -1
	}
	return first - second
}

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
			r.warn("%s: %s %s does not run at %s: what is put back after a failure is the objects alone",
				d.path, h.Kind, h.Name, name)
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
		helmrelease.HookPreInstall, helmrelease.HookPostInstall,
		helmrelease.HookPreUpgrade, helmrelease.HookPostUpgrade,
		helmrelease.HookPreDelete, helmrelease.HookPostDelete,
		helmrelease.HookPreRollback, helmrelease.HookPostRollback,
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
