package format

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
)

// loadYAML reads the manifests of a directory wherever they lie, as they are.
func loadYAML(ctx context.Context, fsys fs.FS, o Options) (*Package, error) {
	reader := newReader(o)
	err := walk(fsys, func(name string) error {
		switch base := path.Base(name); {
		case ctx.Err() != nil:
			return ctx.Err()
		case kustomize.IsName(base):
			reader.Problem(name, 0, "a kustomization, which is not built where others lie beside it: "+
				"give its directory")
		case base == chartFile:
			reader.Problem(name, 0, "a chart, which is not rendered where others lie beside it: give its directory")
		default:
			text, err := readFile(fsys, name, manifest.MaxBytes)
			if err != nil {
				return err
			}
			reader.Read(name, text)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	reader.Conform()
	objects, _ := reader.Objects()
	problems := reader.Problems()
	if len(objects) == 0 && len(problems) == 0 {
		problems = []string{"no file holds an object"}
	}
	if len(problems) > 0 {
		return nil, fault.From(Invalid(YAML, problems)).WithHint("every file whose name ends in .yaml, .yml or " +
			".json is read: give the directory, or the file, that has nothing but Kubernetes objects")
	}
	return &Package{
		Format: YAML, Objects: objects, Warnings: reader.Warnings(), Unknown: reader.Unknown(),
	}, nil
}

// loadKustomize reads what the kustomization at the root is built to.
func loadKustomize(ctx context.Context, fsys fs.FS, o Options) (*Package, error) {
	text, err := kustomize.Build(ctx, fsys, kustomize.Limits{Time: o.RenderTime, Output: manifest.MaxBytes})
	if err == nil && o.Built != nil {
		err = o.Built(ctx)
	}
	if err != nil {
		return nil, err
	}
	reader := newReader(o)
	reader.Read("kustomize build", text)
	reader.Conform()
	objects, _ := reader.Objects()
	problems := reader.Problems()
	if len(objects) == 0 && len(problems) == 0 {
		problems = []string{"the kustomization makes no object"}
	}
	if len(problems) > 0 {
		return nil, Invalid(Kustomize, problems)
	}
	return &Package{
		Format: Kustomize, Objects: objects, Warnings: reader.Warnings(), Unknown: reader.Unknown(),
	}, nil
}

// walk visits what may be manifests or says how to read them, by the names. Hidden files and directories are passed
// over, as are all others.
func walk(fsys fs.FS, visit func(name string) error) error {
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || !isManifest(name) && !kustomize.IsName(name):
			return nil
		}
		return visit(name)
	})
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return unreadable(path.Path, err)
	}
	return err
}

// isManifest is true for what may be a manifest, by its name.
func isManifest(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

func hasManifest(fsys fs.FS) (found bool) {
	_ = walk(fsys, func(string) error {
		found = true
		return fs.SkipAll
	})
	return found
}

// isTree says whether what may be manifests is that alone, by the names: loadYAML takes it.
func isTree(fsys fs.FS) bool {
	err := walk(fsys, func(name string) error {
		if kustomize.IsName(name) || path.Base(name) == chartFile {
			return fs.ErrInvalid
		}
		return nil
	})
	return err == nil
}

// kustomizations are the directories of the first few, for a message.
func kustomizations(fsys fs.FS) (dirs []string) {
	const most = 5
	_ = walk(fsys, func(name string) error {
		switch {
		case !kustomize.IsName(name):
			return nil
		case len(dirs) == most:
			dirs = append(dirs, "…")
			return fs.SkipAll
		}
		dirs = append(dirs, path.Dir(name))
		return nil
	})
	return dirs
}
