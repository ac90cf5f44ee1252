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
	"github.com/berthdev/berth/internal/yamldoc"
)

// Configured are the platform's blueprints: the files of a directory, if there is one,
// and what has been found elsewhere.
type Configured struct {
	Dir  string
	More []blueprint.Source
}

// IsEmpty reports whether nothing is configured.
func (c Configured) IsEmpty() bool { return c.Dir == "" && len(c.More) == 0 }

// Checked is what Check found to be valid.
type Checked struct {
	Files      []string
	Blueprints int
	// Set is the platform's blueprints, with those that take the places of some.
	Set *Set
}

// Check reads files and directories of blueprints on top of those that are configured,
// whose places they take if they have the same names. Without any, it is those that are
// configured. The error has the problems of all of them.
func Check(ctx context.Context, c Configured, paths []string) (Checked, error) {
	s, err := Builtin()
	if err != nil {
		return Checked{}, err
	}
	files, err := expand(paths)
	if err != nil {
		return Checked{}, err
	}
	given, problems, err := readDir(c.Dir)
	if err != nil {
		return Checked{}, err
	}
	given = append(given, c.More...)
	var customs []blueprint.Source
	if len(paths) > 0 {
		if problems = append(problems, s.add(except(given, files)...)...); len(problems) > 0 {
			problems = s.check(problems, s.own, nil) // as Load says
		}
		s.language = s.language.recounted() // what is given takes the place of what is configured
		var unread []yamldoc.Problem
		given, unread = readFiles(files)
		given, customs = split(given)
		problems = append(problems, unread...)
	}
	problems = append(problems, s.add(given...)...)
	all := slices.Clip(s.own)
	for _, custom := range customs {
		e, found := s.readCustom(custom)
		problems = append(problems, found...)
		s.texts[custom.Name], e.name = custom.Text, "custom"
		if e.node != nil {
			all = append(all, e)
		}
	}
	problems = s.check(problems, all, func(d Draft) []string { return d.limits(ctx) })
	if err := context.Cause(ctx); err != nil { // expressions that were too much work may not have been found
		return Checked{}, err
	}
	if len(problems) > 0 {
		return Checked{}, s.invalid(problems, entry{})
	}
	done := Checked{Blueprints: len(all), Set: s}
	for _, source := range slices.Concat(given, customs) {
		done.Files = append(done.Files, source.Name)
	}
	slices.Sort(done.Files)
	return done, nil
}

// split takes the custom blueprints out, by the names of their files.
func split(given []blueprint.Source) (platform, customs []blueprint.Source) {
	for _, source := range given {
		if strings.HasSuffix(filepath.Base(source.Name), blueprint.CustomFile) {
			customs = append(customs, source)
		} else {
			platform = append(platform, source)
		}
	}
	return platform, customs
}

// except leaves out the sources that are one of the files, by whatever path.
func except(sources []blueprint.Source, files []string) []blueprint.Source {
	return slices.DeleteFunc(sources, func(s blueprint.Source) bool {
		info, err := os.Stat(s.Name)
		return err == nil && slices.ContainsFunc(files, func(file string) bool {
			other, err := os.Stat(file)
			return err == nil && os.SameFile(info, other)
		})
	})
}

// expand returns files, and those of directories, each once.
func expand(paths []string) (files []string, err error) {
	for _, path := range paths {
		found, err := expandOne(path)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func expandOne(path string) ([]string, error) {
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
