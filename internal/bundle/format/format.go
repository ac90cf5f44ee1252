// Package format reads the content of a bundle as what it is: plain manifests, a chart, or
// an operator bundle of a registry. The result is the same for all: the objects to apply.
package format

import (
	"context"
	"io/fs"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
)

// Format is a way in which bundles are written.
type Format string

// The formats.
const (
	Plain    Format = "plain+v0"
	Helm     Format = "helm"
	Registry Format = "registry+v1"
)

// Formats are all of them, in the order of documents.
func Formats() []Format { return []Format{Plain, Helm, Registry} }

// Package is a bundle that has been read.
type Package struct {
	Format Format
	// Name and Version are those of the chart, or of the package; plain bundles have none.
	Name, Version string
	// Namespace is where objects go that name none. Empty if the format does not say.
	Namespace string
	// Objects are in the order of the bundle. Each has an apiVersion, a kind and a name, and
	// no two are the same.
	Objects []*unstructured.Unstructured
	// Chart and Values are for Helm's record; nil if the bundle is no chart.
	Chart  *helmchart.Chart
	Values map[string]any
	// Warnings are what a user should know, though it is no error.
	Warnings []string
}

// Options say how to read a bundle.
type Options struct {
	// Format is recognized if it is empty.
	Format Format
	// Instance is the name of the release.
	Instance string
	// Namespace is where objects go that name none, unless the format says so.
	Namespace string
	// Values are those of a chart: a text of YAML.
	Values []byte
}

// Load reads a bundle. The error has all problems together, with their places.
func Load(ctx context.Context, fsys fs.FS, o Options) (*Package, error) {
	var err error
	if o.Format == "" {
		if o.Format, err = Recognize(fsys); err != nil {
			return nil, err
		}
	}
	if o.Format != Helm && len(o.Values) > 0 {
		return nil, fault.New(fault.InvalidArgument, "a bundle of format %s takes no values", o.Format).
			WithHint("only charts have values")
	}
	switch o.Format {
	case Plain:
		return loadPlain(ctx, fsys, o)
	case Registry:
		return loadRegistry(ctx, fsys)
	default:
		return nil, fault.New(fault.InvalidArgument, "unknown bundle format %q", o.Format).
			WithHint("use one of: %s", texts(Formats()))
	}
}

// invalid is the error of a bundle with problems.
func invalid(format Format, problems []string) error {
	err := fault.New(fault.InvalidArgument, "invalid %s bundle", format)
	if len(problems) == 1 {
		return err.WithDetail(problems[0])
	}
	err.Problems = problems
	return err
}
