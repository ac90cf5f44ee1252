package catalog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
)

// Checked is what Check found to be valid.
type Checked struct {
	Files      []string
	Blueprints int
}

// Check reads files and directories of blueprints, which inherit from each other
// and from the built-in ones. The error has all their problems.
func Check(ctx context.Context, paths []string) (Checked, error) {
	s, err := Builtin()
	if err != nil {
		return Checked{}, err
	}
	var done Checked
	for _, path := range paths {
		files, err := expand(path)
		if err != nil {
			return Checked{}, err
		}
		done.Files = append(done.Files, files...)
	}
	slices.Sort(done.Files)
	done.Files = slices.Compact(done.Files)
	sources, problems := readFiles(done.Files)
	var customs []blueprint.Source
	for _, source := range sources {
		if isCustom(source.Name) {
			customs = append(customs, source)
			continue
		}
		problems = append(problems, s.add(source)...)
	}
	problems = append(problems, s.problems(ctx)...)
	for _, custom := range customs {
		d, err := s.Compose(Order{Custom: &custom, As: "custom"})
		if err == nil {
			err = d.check(ctx)
		}
		problems = append(problems, problemsOf(err)...)
	}
	if err := context.Cause(ctx); err != nil { // expressions that were too much work may not have been found
		return Checked{}, err
	}
	if len(problems) > 0 {
		return Checked{}, invalid(problems)
	}
	done.Blueprints = len(s.own) + len(customs)
	return done, nil
}

// isCustom reports whether a file holds a custom blueprint, by its name.
func isCustom(file string) bool {
	return strings.HasSuffix(filepath.Base(file), blueprint.CustomFile)
}

// expand returns a file, or those of a directory.
func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	if err == nil {
		files, err = listDir(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "%s: no such file or directory", path)
	case err != nil:
		return nil, fault.New(fault.InvalidArgument, "%w", err)
	case len(files) == 0:
		return nil, fault.New(fault.NotFound, "no *.yaml or *.yml files in %s", path)
	}
	return files, nil
}

// problems are those of blueprints with everything inherited. One that inherits
// from a blueprint that is broken as written is left out.
func (s *Set) problems(ctx context.Context) (all []string) {
	for _, name := range s.all() {
		if !s.own[name] {
			continue
		}
		chain, err := s.chain(name)
		if slices.ContainsFunc(chain, func(e entry) bool { return e.broken }) {
			continue
		}
		if err == nil && !s.entries[name].isTemplate {
			err = s.merge(chain, Order{Name: name}).check(ctx)
		}
		all = append(all, problemsOf(err)...)
	}
	return all
}

func problemsOf(err error) []string {
	if err == nil {
		return nil
	}
	return fault.From(err).Problems
}
