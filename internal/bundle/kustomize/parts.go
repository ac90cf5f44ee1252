package kustomize

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/fault"
)

// Parts are what of a tree belongs to the kustomization of one of its directories.
type Parts struct {
	// Dirs are the directories of that and of those that it refers to, none of which is in another. Kustomize confines
	// each to its own.
	Dirs []string
	// Root is a kustomization that leads to that of the directory, for the root of the parts; nil if the directory has
	// all that it refers to.
	Root []byte
}

// maxReferences is how many references are looked at. A source that has more is refused when it is built.
const maxReferences = 10_000

// RootName is the name of the file of Root.
const RootName = "kustomization.yaml"

// Find finds the parts of a kustomization in a directory of a tree, of which read gives the files: the error is
// fs.ErrNotExist for a file that does not exist. Without a kustomization it is the directory alone; what else is wrong
// is for Build to say. No more is read than Build takes.
func Find(ctx context.Context, dir string, read func(name string) ([]byte, error)) (Parts, error) {
	dir = path.Clean(dir)
	known, tried := map[string]bool{}, map[string]bool{dir: true}
	var root *types.Kustomization
	total := 0
	counted := func(name string) ([]byte, error) {
		text, err := read(name)
		if total += len(text); total > maxInput {
			return nil, refused([]string{problemf("%s: with it, more than %d MiB of kustomizations are read", name,
				maxInput>>20)})
		}
		return text, err
	}
	for queue := []string{dir}; len(queue) > 0 && len(tried) <= maxReferences; queue = queue[1:] {
		if ctx.Err() != nil {
			return Parts{}, context.Cause(ctx)
		}
		k, err := kustomizationIn(queue[0], counted)
		if err != nil {
			return Parts{}, err
		}
		if k == nil {
			continue
		}
		if known[queue[0]] = true; len(known) > maxKustomizations {
			return Parts{}, refused([]string{problemf("%s: more than %d kustomizations are read for it", dir,
				maxKustomizations)})
		}
		if root == nil {
			root = k
		}
		for _, ref := range bases(k) {
			to := path.Join(queue[0], ref.path)
			if !tried[to] && !isRemote(ref.path) && !path.IsAbs(ref.path) && !isOutside(to) && !holds(to, queue[0]) {
				tried[to] = true
				queue = append(queue, to)
			}
		}
	}
	known[dir] = true
	var parts Parts
	for _, to := range slices.Sorted(maps.Keys(known)) {
		// In this order, what holds a directory is before it.
		if !slices.ContainsFunc(parts.Dirs, func(in string) bool { return holds(in, to) }) {
			parts.Dirs = append(parts.Dirs, to)
		}
	}
	if len(parts.Dirs) == 1 {
		return parts, nil
	}
	var err error
	parts.Root, err = leadTo(dir, root)
	return parts, err
}

// holds says whether a directory is another, or has it in it.
func holds(dir, other string) bool {
	return dir == "." || dir == other || strings.HasPrefix(other, dir+"/")
}

// kustomizationIn reads the kustomization of a directory; nil if it has none that can be read.
func kustomizationIn(dir string, read func(name string) ([]byte, error)) (*types.Kustomization, error) {
	for _, name := range Names() {
		text, err := read(path.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		k, err := parse(text)
		if err != nil {
			return nil, nil //nolint:nilerr // it is said when it is built
		}
		return &k, nil
	}
	return nil, nil
}

// leadTo is a kustomization that is built to the same as that of a directory.
func leadTo(dir string, k *types.Kustomization) ([]byte, error) {
	// Of all else, kustomize applies what the directory says by itself.
	lead := types.Kustomization{SortOptions: k.SortOptions, BuildMetadata: k.BuildMetadata}
	lead.APIVersion, lead.Kind = types.KustomizationVersion, types.KustomizationKind
	if k.Kind == types.ComponentKind {
		lead.Components = []string{dir}
	} else {
		lead.Resources = []string{dir}
	}
	text, err := yaml.Marshal(lead)
	if err != nil {
		return nil, fault.New(fault.Internal, "write a kustomization as YAML: %w", err)
	}
	return append([]byte("# The kustomization of "+dir+", with what it refers to beside it.\n"), text...), nil
}
