package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Names are those that the file of a kustomization can have.
func Names() []string { return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} }

// IsName says whether a file is a kustomization, by its name.
func IsName(name string) bool { return slices.Contains(Names(), path.Base(name)) }

// FileIn is the kustomization of a directory; empty if it has none.
func FileIn(fsys fs.FS, dir string) string {
	for _, name := range Names() {
		name = path.Join(dir, name)
		if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// MaxFile is what a kustomization can have, in bytes: with patches in it, real ones have some hundred KiB.
const MaxFile = 1 << 20

// parse reads a kustomization as kustomize does.
func parse(text []byte) (k types.Kustomization, err error) {
	limits := yamldoc.Limits{Bytes: MaxFile, Marks: 100_000, Weight: MaxFile, Depth: 100}
	if bomb := yamldoc.Bomb(text, limits); bomb != nil {
		return k, errors.New(bomb.Message)
	}
	if err := k.Unmarshal(text); err != nil {
		return k, errors.New(strings.TrimPrefix(err.Error(), "invalid Kustomization: "))
	}
	k.FixKustomization()
	return k, nil
}

// reference is a path in a kustomization.
type reference struct{ field, path string }

// bases are the references that may be directories.
func bases(k *types.Kustomization) (refs []reference) {
	add := func(field string, paths []string) {
		for _, p := range paths {
			if !isText(p) {
				refs = append(refs, reference{field, p})
			}
		}
	}
	add("resources", k.Resources)
	add("components", k.Components)
	add("generators", k.Generators)
	add("transformers", k.Transformers)
	add("validators", k.Validators)
	return refs
}

// isText says whether what may be a path is what is meant itself.
func isText(p string) bool { return strings.ContainsAny(p, "\n{") || strings.Contains(p, ": ") }

// mayBeText says whether a field takes a text in the place of a path: what is missing is then for kustomize to say.
func mayBeText(field string) bool {
	switch field {
	case "generators", "transformers", "validators", "patchesStrategicMerge":
		return true
	}
	return false
}

// files are the references that are files.
func files(k *types.Kustomization) (refs []reference) {
	add := func(field string, paths ...string) {
		for _, p := range paths {
			if p != "" {
				refs = append(refs, reference{field, p})
			}
		}
	}
	add("crds", k.Crds...)
	add("configurations", k.Configurations...)
	add("openapi", k.OpenAPI["path"])
	for _, patch := range k.Patches {
		add("patches", patch.Path)
	}
	for _, patch := range k.PatchesJson6902 { //nolint:staticcheck // deprecated, and still in use
		add("patchesJson6902", patch.Path)
	}
	for _, patch := range k.PatchesStrategicMerge { //nolint:staticcheck // likewise
		if !isText(string(patch)) {
			add("patchesStrategicMerge", string(patch))
		}
	}
	for _, replacement := range k.Replacements {
		add("replacements", replacement.Path)
	}
	generated := func(field string, pairs types.KvPairSources) {
		for _, file := range pairs.FileSources {
			_, at, keyed := strings.Cut(file, "=")
			if !keyed {
				at = file
			}
			add(field, at)
		}
		add(field, pairs.EnvSources...)
	}
	for i := range k.ConfigMapGenerator {
		generated("configMapGenerator", k.ConfigMapGenerator[i].KvPairSources)
	}
	for i := range k.SecretGenerator {
		generated("secretGenerator", k.SecretGenerator[i].KvPairSources)
	}
	return refs
}

// badLiterals are the places of literals that have no key, which kustomize would quote.
func badLiterals(k *types.Kustomization) (places []reference) {
	look := func(field string, args types.GeneratorArgs) {
		for i, literal := range args.LiteralSources {
			if strings.Index(literal, "=") < 1 {
				places = append(places, reference{field, fmt.Sprintf("literals[%d] of %s", i, args.Name)})
			}
		}
	}
	for i := range k.ConfigMapGenerator {
		look("configMapGenerator", k.ConfigMapGenerator[i].GeneratorArgs)
	}
	for i := range k.SecretGenerator {
		look("secretGenerator", k.SecretGenerator[i].GeneratorArgs)
	}
	return places
}

// remote is what kustomize would fetch: a file at a URL, or a repository. That it recognizes more of them makes no
// difference, as nothing of that name is in the bundle.
const remote pattern.Expr = `(?i)^(git::)?([a-z+]+://|https?:|git::|github\.com[/:]|[a-z][a-z0-9-]*@[^/]+:)`

// isRemote says whether a reference is to be fetched.
func isRemote(p string) bool { return remote.MatchString(p) || strings.Contains(p, "?ref=") }

// isOutside says whether a path leads out of what it is relative to.
func isOutside(p string) bool { return p == ".." || strings.HasPrefix(p, "../") }

// place is a field of a kustomization in a message.
func place(file, field string) string { return file + ": " + field + ": " }

// problemf is a problem of a kustomization, on one line.
func problemf(format string, args ...any) string { return fault.Line(fmt.Sprintf(format, args...)) }
