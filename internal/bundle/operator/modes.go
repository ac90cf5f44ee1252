package operator

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// installMode says whether an operator can watch some namespaces.
type installMode struct {
	Type      string `json:"type"`
	Supported bool   `json:"supported"`
}

// The install modes: all namespaces, that of the operator, another one, or several.
const (
	allNamespaces   = "AllNamespaces"
	ownNamespace    = "OwnNamespace"
	singleNamespace = "SingleNamespace"
	multiNamespace  = "MultiNamespace"
)

// modes are those that the operator supports.
func (v *version) modes() (modes []string) {
	for _, mode := range v.Spec.InstallModes {
		if mode.Supported && !slices.Contains(modes, mode.Type) {
			modes = append(modes, mode.Type)
		}
	}
	return modes
}

// targets are the namespaces that the operator watches, of those that are asked for; empty for all. If none are asked
// for, it watches all, or its own if it does not support that; one that supports neither is taken if any will do.
func (r *reading) targets(asked []string, anyWill bool) []string {
	modes := r.modes()
	if len(asked) == 0 {
		switch {
		case slices.Contains(modes, allNamespaces):
			return nil
		case slices.Contains(modes, ownNamespace):
			r.warn("the operator watches its own namespace %s alone: it does not support install mode %s",
				r.namespace, allNamespaces)
			return []string{r.namespace}
		case len(modes) == 0:
			r.problem("the operator supports no install mode")
		case !anyWill:
			r.problem("the operator has to be told with --watch-namespaces what to watch: it supports %s",
				strings.Join(modes, ", "))
		}
		return nil
	}
	watch := slices.Compact(slices.Sorted(slices.Values(asked)))
	for _, name := range watch {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			r.problem("invalid namespace %q to watch: %s", name, strings.Join(problems, "; "))
		}
	}
	for _, mode := range r.modesFor(watch) {
		if !slices.Contains(modes, mode) {
			r.problem("install mode %s is not supported, which watching %s takes: the operator supports %s", mode,
				strings.Join(watch, ", "), orNone(modes))
		}
	}
	return watch
}

// modesFor are the install modes that an operator has to support to watch some namespaces.
func (r *reading) modesFor(watch []string) (modes []string) {
	own := slices.Contains(watch, r.namespace)
	if own {
		modes = append(modes, ownNamespace)
	}
	switch {
	case len(watch) > 1:
		modes = append(modes, multiNamespace)
	case !own:
		modes = append(modes, singleNamespace)
	}
	return modes
}

func orNone(some []string) string {
	if len(some) == 0 {
		return "none"
	}
	return strings.Join(some, ", ")
}
