// Package chartutil has the types that templates see. Its name, and theirs, are those of Helm's: `typeOf .Values`
// prints them.
package chartutil

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Capabilities are what a template sees as .Capabilities.
type Capabilities struct {
	KubeVersion KubeVersion
	APIVersions VersionSet
	HelmVersion HelmVersion
}

// KubeVersion is the version of Kubernetes. Its methods are those of a pointer, as Helm's are: a template that prints
// .Capabilities.KubeVersion has the version, one that quotes it the fields.
type KubeVersion struct{ Version, Major, Minor string }

func (v *KubeVersion) String() string { return v.Version }

// GitVersion is the same for templates of an earlier Helm.
func (v *KubeVersion) GitVersion() string { return v.Version }

// VersionSet are versions of APIs, apps/v1, and their kinds, apps/v1/Deployment.
type VersionSet []string

// Has says whether there is a version of an API, or a kind of one.
func (v VersionSet) Has(name string) bool { return slices.Contains(v, name) }

// HelmVersion is the version of Helm.
type HelmVersion struct{ Version, GitCommit, GitTreeState, GoVersion string }

// Values are those of a chart, as a template sees them.
type Values map[string]any

// AsMap is for templates, since some functions take a plain map.
func (v Values) AsMap() map[string]any {
	if len(v) == 0 {
		return map[string]any{}
	}
	return v
}

// YAML is for templates.
func (v Values) YAML() (string, error) {
	text, err := yaml.Marshal(v)
	return string(text), err
}

// Table is a table inside the values: "a.b".
func (v Values) Table(path string) (Values, error) {
	for key := range strings.SplitSeq(path, ".") {
		switch below := v[key].(type) {
		case map[string]any:
			v = below
		case Values:
			v = below
		default:
			return Values{}, fmt.Errorf("%q is not a table", key)
		}
	}
	return v, nil
}

// PathValue is what is at a path, which must not be a table: "a.b".
func (v Values) PathValue(path string) (any, error) {
	table, key := v, path
	if i := strings.LastIndex(path, "."); i >= 0 {
		var err error
		if table, err = v.Table(path[:i]); err != nil {
			return nil, err
		}
		key = path[i+1:]
	}
	value, ok := table[key]
	if _, isTable := value.(map[string]any); !ok || isTable {
		return nil, fmt.Errorf("%q is not a value", key)
	}
	return value, nil
}
