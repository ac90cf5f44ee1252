package main

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rendering is what one of the two makes of a chart.
type rendering struct {
	objects     []map[string]any // in the order in which they are applied
	definitions map[string]any   // of crds/, by their kinds and names
	hooks       []any            // in the order in which they run at an event
	notes       string
	warnings    []string
	err         error
}

// idOf is how an object is called.
func idOf(object map[string]any) string {
	u := unstructured.Unstructured{Object: object}
	id := u.GroupVersionKind().GroupKind().String() + " "
	if u.GetNamespace() != "" {
		id += u.GetNamespace() + "/"
	}
	return id + u.GetName()
}

// addDefinitions adds objects of crds/: of two with one name the first counts.
func (r *rendering) addDefinitions(objects []map[string]any) {
	if r.definitions == nil {
		r.definitions = map[string]any{}
	}
	for _, object := range objects {
		if id := idOf(object); r.definitions[id] == nil {
			r.definitions[id] = object
		}
	}
}

// addHook adds a hook that runs at other events than tests.
func (r *rendering) addHook(h *helmrelease.Hook, objects []map[string]any) {
	var events []string
	for _, event := range h.Events {
		if event != helmrelease.HookTest { // which berth leaves out
			events = append(events, event.String())
		}
	}
	if len(events) == 0 {
		return
	}
	policies := h.DeletePolicies
	if len(policies) == 0 {
		policies = []helmrelease.HookDeletePolicy{helmrelease.HookBeforeHookCreation} // as when it runs
	}
	r.hooks = append(r.hooks, map[string]any{
		"path": h.Path, "name": h.Name, "kind": h.Kind, "weight": h.Weight, "events": strings.Join(events, ","),
		"delete policies": fmt.Sprint(policies), "log policies": fmt.Sprint(h.OutputLogPolicies),
		"objects": values(objects),
	})
}

func values(objects []map[string]any) (all []any) {
	for _, object := range objects {
		all = append(all, object)
	}
	return all
}

// result is what comes of a comparison.
type result struct {
	differences             []string
	refused                 error // by both
	objects, hooks, adapted int
	notes                   bool
	warnings                []string
}

func (r result) String() string {
	switch {
	case len(r.differences) > 0:
		return fmt.Sprintf("%d differences", len(r.differences))
	case r.refused != nil:
		return "refused by both: " + r.refused.Error()
	}
	return fmt.Sprintf("the same: %d objects, %d hooks", r.objects, r.hooks)
}

// compare renders a chart with both.
func (b *renderers) compare(ctx context.Context, c testCase) result {
	want, got := byHelm(ctx, b.options, c), b.byBerth(ctx, c)
	switch {
	case want.err != nil && got.err != nil:
		return result{refused: got.err}
	case want.err != nil:
		return result{differences: []string{"Helm alone refuses it: " + want.err.Error()}}
	case got.err != nil:
		return result{differences: []string{"berth alone refuses it: " + got.err.Error()}}
	}
	r := result{
		objects: len(want.objects), hooks: len(want.hooks), notes: want.notes != "", warnings: got.warnings,
	}
	found := differences(want, got)
	if len(found) == 0 {
		return r
	}
	// What Helm itself makes differently the second time is random, or the time.
	again := map[string]bool{}
	for _, d := range differences(want, byHelm(ctx, b.options, c)) {
		again[d.path] = true
	}
	for _, d := range found {
		switch {
		case again[d.path] && shape(d.want) == shape(d.got):
		case d.isAdapted(got.warnings):
			r.adapted++
		default:
			r.differences = append(r.differences, d.String())
		}
	}
	return r
}

// difference is a place where two renderings are not the same.
type difference struct {
	object    string // "ConfigMap a", as in warnings; empty for what is no field of an object
	path      string
	want, got any
}

func (d difference) String() string {
	return fmt.Sprintf("%s: Helm has %s, berth %s", d.path, short(d.want), short(d.got))
}

// isAdapted says whether a warning speaks of the object: a field that does not exist is left out, and of two items of a
// list with the same key the last one counts.
func (d difference) isAdapted(warnings []string) bool {
	return d.object != "" && slices.ContainsFunc(warnings, func(warning string) bool {
		return strings.Contains(warning, ": "+d.object+": ")
	})
}

func short(value any) string {
	if value == nil {
		return "nothing"
	}
	text := fmt.Sprintf("%#v", value)
	if s, ok := value.(string); ok {
		text = fmt.Sprintf("%q", s)
	}
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return text
}

// shape is a value without what may be random in it.
func shape(value any) string {
	text, ok := value.(string)
	if !ok {
		return fmt.Sprintf("%T", value)
	}
	return regexp.MustCompile(`[\w+/=.\s]+`).ReplaceAllString(text, "x")
}

// differences are those of two renderings.
func differences(want, got *rendering) (all []difference) {
	all = append(all, objectDifferences(want.objects, got.objects)...)
	all = append(all, walk("", "hooks", want.hooks, got.hooks)...)
	all = append(all, walk("", "crds", want.definitions, got.definitions)...)
	return append(all, walk("", "notes", want.notes, got.notes)...)
}

// objectDifferences are those of objects that are applied in turn.
func objectDifferences(want, got []map[string]any) (all []difference) {
	wanted, made := ids(want), ids(got)
	if !slices.Equal(wanted, made) && !slices.Equal(kinds(want), kinds(got)) { // names may be random
		ordered := slices.Equal(slices.Sorted(slices.Values(wanted)), slices.Sorted(slices.Values(made)))
		if !ordered {
			return walk("", "objects", anySlice(wanted), anySlice(made))
		}
		all = walk("", "order", anySlice(wanted), anySlice(made))
		slices.SortStableFunc(want, byID)
		slices.SortStableFunc(got, byID)
	}
	for i := range want {
		u := unstructured.Unstructured{Object: want[i]}
		all = append(all, walk(u.GetKind()+" "+u.GetName(), fmt.Sprintf("objects.%d (%s)", i, idOf(want[i])), want[i],
			got[i])...)
	}
	return all
}

func byID(a, b map[string]any) int { return strings.Compare(idOf(a), idOf(b)) }

func ids(objects []map[string]any) (all []string) {
	for _, object := range objects {
		all = append(all, idOf(object))
	}
	return all
}

func kinds(objects []map[string]any) (all []string) {
	for _, object := range objects {
		all = append(all, fmt.Sprint(object["kind"]))
	}
	return all
}

func anySlice(texts []string) (all []any) {
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}

// walk compares two values field by field.
func walk(object, path string, want, got any) (all []difference) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(w)
		if keys == nil {
			keys = map[string]any{}
		}
		maps.Copy(keys, g)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			_, had := w[key]
			_, has := g[key]
			if had != has && w[key] == nil && g[key] == nil { // null is not the same as nothing
				all = append(all, difference{object, path + "." + key, had, has})
				continue
			}
			all = append(all, walk(object, path+"."+key, w[key], g[key])...)
		}
		return all
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range max(len(w), len(g)) {
			var a, b any
			if i < len(w) {
				a = w[i]
			}
			if i < len(g) {
				b = g[i]
			}
			all = append(all, walk(object, fmt.Sprintf("%s[%d]", path, i), a, b)...)
		}
		return all
	}
	if !reflect.DeepEqual(want, got) {
		all = append(all, difference{object, path, want, got})
	}
	return all
}
