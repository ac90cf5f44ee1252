package format

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/bundle/operator"
	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
)

// manifestsDir holds the objects of a bundle that is no chart.
const manifestsDir = "manifests"

// loadPlain reads manifests as they are: nothing in them is a template.
func loadPlain(ctx context.Context, fsys fs.FS, o Options) (*Package, error) {
	reader := newReader(o)
	if err := readManifests(ctx, fsys, reader, sync.OnceValue(func() bool { return isTree(fsys) })); err != nil {
		return nil, err
	}
	reader.Conform()
	objects, files := reader.Objects()
	problems := reader.Problems()
	if err := checkOperator(fsys, objects, files); err != nil && len(problems) == 0 {
		return nil, err
	}
	if len(objects) == 0 && len(problems) == 0 {
		problems = []string{manifestsDir + "/: holds no object"}
	}
	if len(problems) > 0 {
		return nil, Invalid(Plain, problems)
	}
	return &Package{
		Format: Plain, Objects: objects, Warnings: reader.Warnings(), Unknown: reader.Unknown(),
	}, nil
}

// newReader reads manifests of others.
func newReader(o Options) *manifest.Reader {
	return &manifest.Reader{Namespace: o.Namespace, Repeats: true, Fits: true, Newer: o.Capabilities.Newer()}
}

// checkOperator refuses the bundle of an operator as plain manifests: its ClusterServiceVersion would be installed, and
// nothing of what that stands for. Where there are no annotations of a registry, one is a manifest as any other.
func checkOperator(fsys fs.FS, objects []*unstructured.Unstructured, files []string) error {
	if !isFile(fsys, annotationsFile) {
		return nil
	}
	for i, object := range objects {
		if object.GetKind() == operator.Kind {
			return fault.New(fault.InvalidArgument, "%s", fault.Line(fmt.Sprintf("the bundle is of format %s, not %s: "+
				"ClusterServiceVersion %s in %s stands for objects that %s would not install", Registry, Plain,
				object.GetName(), files[i], Plain))).
				WithHint("leave out --format, or use the class of format %s", Registry)
		}
	}
	return nil
}

// readManifests reads every file of the flat directory of manifests, but for text in Markdown. If it is not flat,
// another format may be meant.
func readManifests(ctx context.Context, fsys fs.FS, reader *manifest.Reader, mayBeTree func() bool) error {
	entries, err := fs.ReadDir(fsys, manifestsDir)
	if err != nil {
		return unreadable(manifestsDir, err)
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Join(manifestsDir, entry.Name())
		switch {
		case entry.IsDir():
			const flat = "manifests/ must be flat: move its files up"
			if below, err := fs.Sub(fsys, name); err == nil && hasManifest(below) && mayBeTree() {
				reader.Problem(name+"/", 0, "%s, or read all files, wherever they lie, with --format %s", flat, YAML)
			} else {
				reader.Problem(name+"/", 0, flat)
			}
			continue
		case !entry.Type().IsRegular():
			reader.Problem(name, 0, "not a regular file")
			continue
		case strings.EqualFold(path.Ext(name), ".md"):
			continue // it says what the others are; kubectl does not read it either
		}
		text, err := readFile(fsys, name, manifest.MaxBytes)
		if err != nil {
			return err
		}
		reader.Read(name, text)
	}
	return nil
}

// readFile reads a file, but little more than most bytes: its size may be anything.
func readFile(fsys fs.FS, name string, most int64) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, unreadable(name, err)
	}
	return text, nil
}

// unreadable is the error of content that cannot be read, or lacks what its format has.
func unreadable(name string, err error) error {
	return fault.New(fault.InvalidArgument, "read %s of the bundle: %w", name, err)
}
