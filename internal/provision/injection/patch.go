package injection

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Change is a patch of a workload and what it makes of it.
type Change struct {
	Patch []byte // RFC 6902
	After map[string]any
}

// Inject is the change that puts a workspace into a workload. An injection of
// the same workspace that is there already is taken out first, by the same patch.
func Inject(workload map[string]any, p Parts) (Change, error) {
	before, err := RecordOf(annotationsOf(workload))
	if err != nil {
		return Change{}, err
	}
	after := runtime.DeepCopyJSON(workload)
	if before != nil {
		if before.CanonicalID != p.ID {
			return Change{}, Taken(workload, before)
		}
		eject(after, before)
	}
	if err := p.fit(after); err != nil {
		return Change{}, err
	}
	record, err := inject(after, p)
	if err != nil {
		return Change{}, err
	}
	text, err := json.Marshal(record)
	if err != nil {
		return Change{}, fmt.Errorf("injection: %w", err)
	}
	set(after, string(text), "metadata", "annotations", kube.AnnotationInjection)
	if p.Lock != "" {
		set(after, p.Lock, "metadata", "annotations", kube.AnnotationLock)
	}
	return changeTo(workload, after)
}

// Eject is the change that leaves the pod template as it was. Without a record or a
// mark there is nothing to change, and no patch.
func Eject(workload map[string]any, id string) (Change, error) {
	record, err := RecordOf(annotationsOf(workload))
	marked := annotationsOf(workload)[kube.AnnotationLock] != ""
	if err != nil || record == nil && !marked || record != nil && record.CanonicalID != id {
		return Change{After: workload}, err
	}
	after := runtime.DeepCopyJSON(workload)
	if record != nil {
		eject(after, record)
	}
	unstructured.RemoveNestedField(after, "metadata", "annotations", kube.AnnotationLock)
	return changeTo(workload, after)
}

// Mark is the change that writes the mark of a lock on a workload and nothing else:
// no patch applies any more that was computed before it.
func Mark(workload map[string]any, lock string) (Change, error) {
	if lock == "" {
		return Change{After: workload}, nil
	}
	after := runtime.DeepCopyJSON(workload)
	set(after, lock, "metadata", "annotations", kube.AnnotationLock)
	return changeTo(workload, after)
}

// Current says whether the workspace in a workload is what it would be made of
// now.
func Current(record *Record, p Parts) bool {
	hash, err := p.hash()
	return err == nil && record != nil && record.Hash == hash
}

// Taken is the error of a workload that another workspace is in.
func Taken(workload map[string]any, by *Record) error {
	name := strings.ToLower(text(workload, "kind")) + "/" + text(workload, "metadata", "name")
	return fault.New(fault.Conflict, "workspace %s is already injected into %s, which can have only one",
		by.CanonicalID, name).
		WithHint("delete it first: %s", kube.Command("delete", by.CanonicalID, text(workload, "metadata", "namespace")))
}

func inject(object map[string]any, p Parts) (Record, error) {
	hash, err := p.hash()
	r := Record{
		CanonicalID: p.ID, UserString: p.userString(), Hash: hash,
		Containers: names(p.Containers), InitContainers: names(p.InitContainers), Volumes: names(p.Volumes),
		Labels: slices.Sorted(maps.Keys(p.Labels)), Annotations: slices.Sorted(maps.Keys(p.TemplateAnnotations)),
	}
	if shared, ok := lookup(object, "spec", "template", "spec", "shareProcessNamespace").(bool); ok {
		r.SharePID = &shared
	}
	add(object, p.Containers, "spec", "template", "spec", "containers")
	add(object, p.InitContainers, "spec", "template", "spec", "initContainers")
	add(object, p.Volumes, "spec", "template", "spec", "volumes")
	set(object, true, "spec", "template", "spec", "shareProcessNamespace")
	r.Replaced.Labels = setAll(object, p.Labels, "labels")
	r.Replaced.Annotations = setAll(object, p.TemplateAnnotations, "annotations")
	return r, err
}

// setAll sets labels or annotations of the template and returns what was there.
func setAll(object map[string]any, values map[string]string, key string) (replaced map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if old, ok := lookup(object, "spec", "template", "metadata", key, name).(string); ok {
			if replaced == nil {
				replaced = map[string]string{}
			}
			replaced[name] = old
		}
		set(object, values[name], "spec", "template", "metadata", key, name)
	}
	return replaced
}

// eject takes out what the record names and an injection can have put there: the
// record is an annotation, which others may have written.
func eject(object map[string]any, r *Record) {
	removeNamed(object, r.own(r.Containers), "spec", "template", "spec", "containers")
	removeNamed(object, r.own(r.InitContainers), "spec", "template", "spec", "initContainers")
	removeNamed(object, r.own(r.Volumes), "spec", "template", "spec", "volumes")
	restore(object, injectable(r.Labels), r.Replaced.Labels, "labels")
	restore(object, injectable(r.Annotations), r.Replaced.Annotations, "annotations")
	// If it is not true any more, others have changed it since: it stays.
	if shared, ok := lookup(object, "spec", "template", "spec", "shareProcessNamespace").(bool); ok && shared {
		switch {
		case r.SharePID == nil:
			unstructured.RemoveNestedField(object, "spec", "template", "spec", "shareProcessNamespace")
		case !*r.SharePID:
			set(object, false, "spec", "template", "spec", "shareProcessNamespace")
		}
	}
	unstructured.RemoveNestedField(object, "metadata", "annotations", kube.AnnotationInjection)
}

func restore(object map[string]any, keys []string, replaced map[string]string, within string) {
	for _, key := range keys {
		path := []string{"spec", "template", "metadata", within, key}
		if old, ok := replaced[key]; ok {
			set(object, old, path...)
		} else {
			unstructured.RemoveNestedField(object, path...)
		}
	}
}

func names(items []any) []string {
	all := []string{} // [], not null
	for _, item := range items {
		all = append(all, nameOf(item))
	}
	return all
}

// annotationsOf are those of the workload itself.
func annotationsOf(object map[string]any) map[string]string {
	return (&unstructured.Unstructured{Object: object}).GetAnnotations()
}

// set gives a field a value. What it is in is made if it is not there; in a
// workload nothing else can be in its place.
func set(object map[string]any, value any, path ...string) {
	_ = unstructured.SetNestedField(object, value, path...)
}

// add puts items at the end of a list: the first container is the one that others
// take for the workload's own.
func add(object map[string]any, items []any, path ...string) {
	if len(items) > 0 {
		set(object, slices.Concat(list(object, path...), items), path...)
	}
}

// removeNamed removes the items of these names from a list, and the list if
// nothing is left.
func removeNamed(object map[string]any, names []string, path ...string) {
	before := list(object, path...)
	left := slices.DeleteFunc(slices.Clone(before), func(item any) bool { return slices.Contains(names, nameOf(item)) })
	switch {
	case len(left) == len(before):
	case len(left) == 0:
		unstructured.RemoveNestedField(object, path...)
	default:
		set(object, left, path...)
	}
}

// lookup is the value at a path; nil if there is none.
func lookup(object map[string]any, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	return value
}

// list is the list at a path.
func list(object map[string]any, path ...string) []any {
	items, _ := lookup(object, path...).([]any)
	return items
}

// text is the string at a path.
func text(object map[string]any, path ...string) string {
	s, _ := lookup(object, path...).(string)
	return s
}

func nameOf(item any) string {
	named, _ := item.(map[string]any)
	return text(named, "name")
}
