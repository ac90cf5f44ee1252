package blueprint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/fault"
)

// DefaultRegistry is where an image without a registry's host comes from.
const DefaultRegistry = "docker.io"

// Resolve gives the blueprint of that name with everything inherited, checked
// as a whole.
func (s *Set) Resolve(name, registry string) (Blueprint, error) {
	chain, err := s.chain(name)
	if err != nil {
		return Blueprint{}, err
	}
	own := chain[0]
	if own.isTemplate {
		return Blueprint{}, fault.New(fault.InvalidArgument, "blueprint %q is a template: it is there to inherit from", name).
			WithHint("choose one of: %s", strings.Join(s.Names(), ", "))
	}
	merged, lineage := map[string]any{}, []string{}
	for _, e := range chain {
		lineage = append(lineage, e.name)
	}
	for _, e := range slices.Backward(chain) {
		var layer map[string]any
		if err := e.node.Decode(&layer); err != nil {
			return Blueprint{}, invalid(yamlProblems(e.file, err))
		}
		merged = merge(merged, layer)
	}
	b, err := decode(merged)
	if err != nil {
		return Blueprint{}, invalid(yamlProblems(own.file, err))
	}
	b.Lineage, b.Origin = lineage, fmt.Sprintf("%s:%d", own.file, own.node.Line)
	b.IsTemplate = false // never inherited
	b.Image = withRegistry(b.Image, registry)
	if problems := check(b); len(problems) > 0 {
		for i := range problems {
			problems[i] = b.Origin + ": blueprint " + b.Name + ": " + problems[i]
		}
		return Blueprint{}, invalid(problems)
	}
	return b, nil
}

// chain is the blueprint and its ancestors, nearest first.
func (s *Set) chain(name string) ([]entry, error) {
	var chain []entry
	var seen []string
	for next := name; next != ""; {
		e, ok := s.entries[next]
		if !ok && len(chain) == 0 {
			return nil, fault.New(fault.NotFound, "there is no blueprint %q", name).
				WithHint("choose one of: %s", strings.Join(s.Names(), ", "))
		}
		if !ok {
			child := chain[len(chain)-1]
			return nil, invalid([]string{fmt.Sprintf("%s:%d: template %q of blueprint %q does not exist", child.file, child.node.Line, next, child.name)})
		}
		if slices.Contains(seen, next) {
			return nil, invalid([]string{fmt.Sprintf("%s:%d: blueprints inherit in a circle: %s → %s", e.file, e.node.Line, strings.Join(seen, " → "), next)})
		}
		seen = append(seen, next)
		chain = append(chain, e)
		next = e.template
	}
	return chain, nil
}

// merge lays child over parent: of scalars the child's, mappings key by key,
// sequences one after the other.
func merge(parent, child map[string]any) map[string]any {
	out := make(map[string]any, len(parent)+len(child))
	maps.Copy(out, parent)
	for key, value := range child {
		out[key] = mergeValue(out[key], value)
	}
	return out
}

func mergeValue(parent, child any) any {
	switch c := child.(type) {
	case map[string]any:
		if p, ok := parent.(map[string]any); ok {
			return merge(p, c)
		}
	case []any:
		if p, ok := parent.([]any); ok {
			return append(slices.Clone(p), c...)
		}
	}
	return child
}

func decode(merged map[string]any) (Blueprint, error) {
	var b Blueprint
	text, err := yaml.Marshal(merged)
	if err != nil {
		return b, err
	}
	err = yaml.Unmarshal(text, &b)
	return b, err
}

// withRegistry writes out the registry's host. A first part with a dot or a
// colon in it, or localhost, is a host; that is how image names have always
// been read.
func withRegistry(image, registry string) string {
	if image == "" {
		return ""
	}
	if registry == "" {
		registry = DefaultRegistry
	}
	first, rest, ok := strings.Cut(image, "/")
	if ok && rest != "" && (strings.ContainsAny(first, ".:") || first == "localhost") {
		return image
	}
	if registry == DefaultRegistry && !ok {
		return registry + "/library/" + image
	}
	return registry + "/" + image
}
