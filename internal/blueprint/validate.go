package blueprint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Checked is what Check has found to be fine.
type Checked struct {
	Files      []string
	Blueprints int
}

// Check reads files and directories of blueprints and finds everything that is
// wrong in them. They stand upon each other and upon what is built in.
func Check(paths []string) (Checked, error) {
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
	own := slices.DeleteFunc(slices.Clone(sources), func(s Source) bool { return !isCustom(s.Name) })
	sources = slices.DeleteFunc(sources, func(s Source) bool { return isCustom(s.Name) })
	problems = append(problems, s.addAll(sources)...)
	problems = append(problems, s.problems()...)
	for _, custom := range own {
		problems = append(problems, s.examineCustom(custom)...)
	}
	if len(problems) > 0 {
		return Checked{}, invalid(problems)
	}
	done.Blueprints = len(s.own) + len(own)
	return done, nil
}

// CustomFile is where a repository keeps its blueprint, at its root.
const CustomFile = ".k8shell.yaml"

// isCustom says whether a file has a blueprint of somebody's own: its name is,
// or ends in, that of a repository's.
func isCustom(file string) bool { return strings.HasSuffix(filepath.Base(file), CustomFile) }

func (s *Set) examineCustom(custom Source) []string {
	d, err := s.Compose(Order{Custom: &custom, As: "custom"})
	if err == nil {
		err = d.examine()
	}
	return problemsOf(err)
}

// expand gives a file, or those of a directory.
func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "%s: no such file or directory", path)
	case err != nil:
		return nil, fault.New(fault.InvalidArgument, "%w", err)
	case !info.IsDir():
		return []string{path}, nil
	}
	files, err := listDir(path)
	if err == nil && len(files) == 0 {
		return nil, fault.New(fault.NotFound, "no *.yaml or *.yml files in %s", path)
	}
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%w", err)
	}
	return files, nil
}

// problems are those of the blueprints as they are with everything inherited.
// What stands upon one that is broken as written is not judged.
func (s *Set) problems() (all []string) {
	for _, name := range s.all() {
		if !s.own[name] {
			continue
		}
		chain, err := s.chain(name)
		if slices.ContainsFunc(chain, func(e entry) bool { return e.broken }) {
			continue
		}
		if err == nil && !s.entries[name].isTemplate {
			err = s.assemble(chain, Order{Name: name}).examine()
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
