package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
)

// defaultKubeVersion is the version of Kubernetes that both are told.
const defaultKubeVersion = "v1.37.0"

// renderers are the two that are compared.
type renderers struct {
	options
	cache   string
	fetcher source.Fetcher
}

func newRenderers(o options) (*renderers, error) {
	quietHelm()
	dir, err := os.MkdirTemp("", "charts-")
	if err != nil {
		return nil, err
	}
	return &renderers{
		options: o, cache: dir,
		fetcher: source.Fetcher{
			Cache: content.NewCache(dir, content.DefaultCacheSize), Limits: content.DefaultLimits(),
		},
	}, nil
}

func (b *renderers) close() { _ = os.RemoveAll(b.cache) }

// byBerth renders a chart as `berth bundle template` does, with its hooks and notes.
func (b *renderers) byBerth(ctx context.Context, c testCase) *rendering {
	r := &rendering{}
	r.err = r.berth(ctx, b, c)
	return r
}

// bundle reads a chart as a bundle and renders it.
func (b *renderers) bundle(ctx context.Context, c testCase) (*format.Package, error) {
	files, err := b.fetcher.Local(ctx, c.chart, nil)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	p, err := format.Load(ctx, files.FS(), format.Options{
		Format: format.Helm, Instance: b.release, Namespace: b.namespace, Values: c.values,
		Capabilities: chart.Capabilities{Version: b.kubeVersion},
	})
	return p, withProblems(err)
}

func (r *rendering) berth(ctx context.Context, b *renderers, c testCase) error {
	p, err := b.bundle(ctx, c)
	if err != nil {
		return err
	}
	manifest, err := p.Manifest()
	if err != nil {
		return err
	}
	// The objects of crds/ come first, and are not in the manifest.
	recorded, err := kubectlReads(manifest)
	if err != nil {
		return err
	}
	definitions := max(0, len(p.Objects)-len(recorded))
	for i, object := range p.Objects {
		if i < definitions {
			r.addDefinitions([]map[string]any{object.Object})
		} else {
			r.objects = append(r.objects, object.Object)
		}
	}
	for i := range p.Hooks {
		h := &p.Hooks[i]
		r.addHook(&h.Hook, []map[string]any{h.Object.Object})
	}
	r.notes, r.warnings = p.Notes, p.Warnings
	return nil
}

// withProblems is an error with all that it has found.
func withProblems(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || len(f.Problems) == 0 {
		return err
	}
	return errors.New(f.Message + ": " + strings.Join(f.Problems, "; "))
}
