package chart

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/bundle/manifest"
)

// document is a part of what a template makes, with its objects: those from first to last.
type document struct {
	path, text, kind string
	first, last      int
}

// take takes the objects, hooks and notes out of what the templates make.
func (r *Rendered) take(ctx context.Context, texts map[string]string, namespace string) []string {
	r.Notes = texts[path.Join(r.Chart.Name(), "templates", "NOTES.txt")]
	reader := &manifest.Reader{Namespace: namespace, Several: isHook}
	for _, crd := range r.Chart.CRDObjects() {
		reader.Read(crd.Filename, crd.File.Data)
	}
	r.Objects, _ = reader.Objects()
	r.Objects = slices.Clone(r.Objects)
	var documents []document
	separator := regexp.MustCompile(`(?:^|\s*\n)---\s*`)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if strings.HasSuffix(name, "NOTES.txt") {
			continue
		}
		for lines, text := range parts(separator, texts[name]) {
			if ctx.Err() != nil {
				return nil
			}
			objects, _ := reader.Objects()
			first := len(objects)
			reader.ReadPart(name, lines, []byte(text))
			if objects, _ = reader.Objects(); len(objects) > first {
				d := document{name, text, objects[first].GetKind(), first, len(objects)}
				if d.last-d.first > 1 {
					d.kind = kindOf(text)
				}
				documents = append(documents, d)
			}
		}
	}
	if problems := reader.Problems(); len(problems) > 0 {
		return problems
	}
	r.sortOut(documents, reader)
	if len(r.Objects)+len(r.Hooks) == 0 {
		r.warn("the chart makes no object with these values")
	}
	return nil
}

// sortOut parts hooks from the other documents, which it puts into Helm's order.
func (r *Rendered) sortOut(documents []document, reader *manifest.Reader) {
	objects, _ := reader.Objects()
	ranks := ranks()
	slices.SortStableFunc(documents, func(a, b document) int { return byKind(ranks, a.kind, b.kind) })
	var text strings.Builder
	for _, d := range documents {
		if d.last-d.first == 1 && isHook(objects[d.first]) {
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

// parts gives the documents of a text where Helm parts them, with the number of lines in
// front of each.
func parts(separator *regexp.Regexp, text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		start := 0
		each := func(end int) bool {
			part := strings.TrimSpace(text[start:end])
			if part == "" {
				return true
			}
			return yield(strings.Count(text[:start+strings.Index(text[start:], part)], "\n"), part)
		}
		for _, at := range separator.FindAllStringIndex(text, -1) {
			if !each(at[0]) {
				return
			}
			start = at[1]
		}
		each(len(text))
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
	for i, kind := range strings.Fields(`PriorityClass Namespace NetworkPolicy ResourceQuota LimitRange PodSecurityPolicy
		PodDisruptionBudget ServiceAccount Secret SecretList ConfigMap StorageClass PersistentVolume PersistentVolumeClaim
		CustomResourceDefinition ClusterRole ClusterRoleList ClusterRoleBinding ClusterRoleBindingList Role RoleList RoleBinding
		RoleBindingList Service DaemonSet Pod ReplicationController ReplicaSet Deployment HorizontalPodAutoscaler StatefulSet
		Job CronJob IngressClass Ingress APIService`) {
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
