package kustomize

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"

	"sigs.k8s.io/kustomize/api/types"
)

// The limits of what a kustomization refers to. Real ones have some tens.
const (
	maxKustomizations = 1000 // read, one that several refer to as often
	maxDepth          = 50   // one in the other
	maxProblems       = 50
)

// check reads the kustomization of a directory and those that it refers to, and finds what is not built: what would be
// fetched or run, what is not there, and what does not end. The roots are the directories of all of them. It ends with
// the context, and at the first that is too many.
func check(ctx context.Context, fsys fs.FS, dir string) (roots, problems []string) {
	w := &walk{ctx: ctx, fsys: fsys, counts: map[string]int{}, open: map[string]bool{}}
	if FileIn(fsys, dir) == "" {
		return nil, []string{"there is no kustomization.yaml at the root of the bundle"}
	}
	w.visit(dir)
	return w.roots, w.problems
}

type walk struct {
	ctx      context.Context //nolint:containedctx // of one call of check
	fsys     fs.FS
	full     bool  // no more is read
	bytes    int64 // of what is read
	roots    []string
	counts   map[string]int  // how many are read for each, itself included
	open     map[string]bool // those that the one which is being read is in
	problems []string
}

func (w *walk) problem(format string, args ...any) {
	if len(w.problems) < maxProblems {
		w.problems = append(w.problems, problemf(format, args...))
	}
}

// ends says whether nothing more is looked at.
func (w *walk) ends() bool { return w.full || w.ctx.Err() != nil }

// visit reads the kustomization of a directory, and says how many are read for it.
func (w *walk) visit(dir string) int {
	if n, known := w.counts[dir]; known {
		return n
	}
	w.roots = append(w.roots, dir)
	file := FileIn(w.fsys, dir)
	text, err := readFile(w.fsys, file, MaxFile)
	w.bytes += int64(len(text))
	switch {
	case len(w.roots) > maxKustomizations:
		w.full = true
		w.problem("%s: more than %d kustomizations are read for it", FileIn(w.fsys, w.roots[0]), maxKustomizations)
		return 1
	case w.bytes > maxInput:
		w.full = true
		w.problem("%s: with it, more than %d MiB of kustomizations are read", file, maxInput>>20)
		return 1
	}
	var k types.Kustomization
	if err == nil {
		k, err = parse(text)
	}
	if err != nil {
		w.problem("%s: %s", file, err)
		w.counts[dir] = 1
		return 1
	}
	if len(k.HelmCharts) > 0 || k.HelmGlobals != nil {
		w.problem("%sno chart is rendered for a kustomization: install it as a bundle of its own, or put what it "+
			"renders into the bundle", place(file, "helmCharts"))
	}
	for _, literal := range badLiterals(&k) {
		w.problem("%s%s is not KEY=VALUE", place(file, literal.field), literal.path)
	}
	for _, ref := range files(&k) {
		if w.ends() {
			break
		}
		w.file(file, dir, ref)
	}
	w.open[dir] = true
	count := 1
	for _, ref := range bases(&k) {
		if w.ends() {
			break
		}
		count = min(count+w.base(file, dir, ref), maxKustomizations+1)
	}
	delete(w.open, dir)
	if count > maxKustomizations && len(w.open) == 0 && !w.full {
		w.problem("%s: more than %d kustomizations are read for it", file, maxKustomizations)
	}
	w.counts[dir] = count
	return count
}

// base checks a reference that may be another kustomization, and says how many are read for it.
func (w *walk) base(file, dir string, ref reference) int {
	to, ok := w.inside(file, dir, ref)
	if !ok {
		return 0
	}
	switch info, err := fs.Stat(w.fsys, to); {
	case err != nil && mayBeText(ref.field):
	case err != nil:
		w.problem("%s%s is not in the bundle", place(file, ref.field), shown(ref.path))
	case !info.IsDir():
	case FileIn(w.fsys, to) == "":
		w.problem("%s%s is a directory without a kustomization", place(file, ref.field), shown(ref.path))
	case w.open[to]:
		w.problem("%s%s leads back to where it comes from", place(file, ref.field), shown(ref.path))
	case len(w.open) == maxDepth:
		w.problem("%s%s is in more than %d kustomizations, one in the other", place(file, ref.field), shown(ref.path),
			maxDepth)
	default:
		return w.visit(to)
	}
	return 0
}

// file checks a reference to a file.
func (w *walk) file(file, dir string, ref reference) {
	to, ok := w.inside(file, dir, ref)
	if !ok || mayBeText(ref.field) {
		return
	}
	if info, err := fs.Stat(w.fsys, to); err != nil || !info.Mode().IsRegular() {
		w.problem("%s%s is not a file of the bundle", place(file, ref.field), shown(ref.path))
	}
}

// inside is where a reference leads, if that is in the bundle.
func (w *walk) inside(file, dir string, ref reference) (string, bool) {
	to := path.Join(dir, ref.path)
	switch {
	case isRemote(ref.path):
		w.problem("%s%s would be fetched, and nothing is: vendor it", place(file, ref.field), shown(ref.path))
	case path.IsAbs(ref.path) || isOutside(to):
		w.problem("%s%s is outside of the bundle", place(file, ref.field), shown(ref.path))
	default:
		return to, true
	}
	return "", false
}

// readFile reads a file, but no more of it than most bytes.
func readFile(fsys fs.FS, name string, most int64) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("larger than %d MiB", most>>20)
	}
	return text, err
}
