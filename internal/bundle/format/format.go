// Package format reads the content of a bundle as what it is: plain manifests, a kustomization, a chart, or
// an operator bundle of a registry. The result is the same for all: the objects to apply.
package format

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
)

// Format is a way in which bundles are written.
type Format string

// The formats.
const (
	Plain     Format = "plain+v0"
	YAML      Format = "yaml"
	Kustomize Format = "kustomize"
	Helm      Format = "helm"
	Registry  Format = "registry+v1"
)

// Formats are all of them, in the order of documents.
func Formats() []Format { return []Format{Plain, YAML, Kustomize, Helm, Registry} }

// Base is the format of which one is another way to write it: objects as they are, in files wherever these lie or made
// by a kustomization, are plain ones, and have the same class.
func (f Format) Base() Format {
	if f == YAML || f == Kustomize {
		return Plain
	}
	return f
}

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
	// Hooks are those of a chart, in the order in which they run at an event.
	Hooks []chart.Hook
	// Notes are what a chart tells its user, as text that others wrote.
	Notes string
	// Chart and Values are for Helm's record; nil if the bundle is no chart.
	Chart  *helmchart.Chart
	Values map[string]any
	// Charts are those in its charts/, as PATH VERSION: what it depends on.
	Charts []string
	// Warnings are what a user should know, though it is no error.
	Warnings []string
	// Unknown are the objects whose fields are compared with nothing.
	Unknown []manifest.Unknown
	// Recorded is true for a package that was read from the record of what is installed:
	// its objects are as they were applied. It has no chart and no hooks.
	Recorded bool

	manifest string
}

// Manifest is as Helm records it: the objects without hooks, and of a chart without crds/,
// which Helm leaves where they are.
func (p *Package) Manifest() (string, error) {
	if p.Format == Helm {
		return p.manifest, nil
	}
	var text strings.Builder
	for _, object := range p.Objects {
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			return "", fault.New(fault.Internal, "write %s %s as YAML: %w", object.GetKind(), object.GetName(), err)
		}
		fmt.Fprintf(&text, "---\n%s", document)
	}
	return text.String(), nil
}

// Options say how to read a bundle.
type Options struct {
	// Format is recognized if it is empty.
	Format Format
	// Instance is the name of the release, Revision that of its state which is to come, and
	// Upgrade says whether there is one before it. Templates see them.
	Instance string
	Revision int
	Upgrade  bool
	// Namespace is where objects go that name none, unless the format says so.
	Namespace string
	// Values are those of a chart: a text of YAML.
	Values []byte
	// Watch are the namespaces that an operator is to watch; none are those that it watches by itself.
	Watch []string
	// anyWatch reads an operator though it is not known yet what it is to watch.
	anyWatch bool
	// Lookup asks the cluster for a template; nil finds nothing, as without a cluster.
	Lookup chart.Lookup
	// Capabilities are those of the cluster, for templates and for what a chart requires.
	Capabilities chart.Capabilities
	// RenderTime and RenderMemory, in bytes, are what the rendering of a chart may take; those
	// of package chart if they are 0. RenderTime is also for the building of a kustomization.
	RenderTime   time.Duration
	RenderMemory int64
	// Built is called once a kustomization is built, before what that makes is read; nil for nothing.
	Built func(ctx context.Context) error
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
	if o.Format != Registry && len(o.Watch) > 0 {
		return nil, fault.New(fault.InvalidArgument, "a bundle of format %s takes no namespaces to watch", o.Format).
			WithHint("only operators of format %s are told which namespaces they watch", Registry)
	}
	switch o.Format {
	case Plain:
		return loadPlain(ctx, fsys, o)
	case YAML:
		return loadYAML(ctx, fsys, o)
	case Kustomize:
		return loadKustomize(ctx, fsys, o)
	case Helm:
		return loadHelm(ctx, fsys, o)
	case Registry:
		return loadRegistry(ctx, fsys, o)
	default:
		return nil, fault.New(fault.InvalidArgument, "unknown bundle format %q", o.Format).
			WithHint("use one of: %s", texts(Formats()))
	}
}

// Check says what the format of a bundle is, and refuses what Load refuses; of a chart without
// rendering it, which takes its values, and of an operator without knowing what it is to watch.
func Check(ctx context.Context, fsys fs.FS) (Format, error) {
	format, err := Recognize(fsys)
	if err != nil {
		return "", err
	}
	if format == Helm {
		sub, err := chartOf(fsys)
		if err != nil {
			return "", err
		}
		return format, chart.Check(ctx, sub, chart.Options{})
	}
	_, err = Load(ctx, fsys, Options{Format: format, anyWatch: true})
	return format, err
}

// Invalid is the error of a bundle with problems.
func Invalid(format Format, problems []string) error {
	err := fault.New(fault.InvalidArgument, "invalid %s bundle", format)
	if len(problems) == 1 {
		return err.WithDetail(problems[0])
	}
	err.Problems = problems
	return err
}

// chartOf is the one chart of a bundle.
func chartOf(fsys fs.FS) (fs.FS, error) {
	dir, err := ChartDir(fsys)
	if err != nil {
		return nil, err
	}
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	return sub, nil
}

// ChartDir is the directory of the one chart of a bundle.
func ChartDir(fsys fs.FS) (string, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return "", unreadable(".", err)
	}
	dirs := chartDirs(fsys, entries)
	if len(dirs) != 1 {
		return "", fault.New(fault.InvalidArgument, "the bundle has %d charts, not one", len(dirs)).
			WithHint("a chart has a Chart.yaml at the root of the bundle or in one directory there")
	}
	return dirs[0], nil
}

// loadHelm renders the one chart of a bundle.
func loadHelm(ctx context.Context, fsys fs.FS, o Options) (*Package, error) {
	sub, err := chartOf(fsys)
	if err != nil {
		return nil, err
	}
	r, err := chart.Load(ctx, sub, chart.Options{
		Release: chart.Release{Name: o.Instance, Namespace: o.Namespace, Revision: o.Revision, Upgrade: o.Upgrade},
		Values:  o.Values, Lookup: o.Lookup, Capabilities: o.Capabilities,
		Time: o.RenderTime, Memory: o.RenderMemory,
	})
	if err != nil {
		return nil, err
	}
	return &Package{
		Format: Helm, Name: r.Chart.Name(), Version: r.Chart.Metadata.Version,
		Objects: r.Objects, Hooks: r.Hooks, Notes: r.Notes, Chart: r.Chart, Values: r.Values, Warnings: r.Warnings,
		Unknown: r.Unknown, Charts: r.Charts, manifest: r.Manifest,
	}, nil
}
