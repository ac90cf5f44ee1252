package catalog

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/original"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Configured are the platform's blueprints: the files of a directory, if there is one, and what has been found
// elsewhere.
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

// Check reads files and directories of blueprints on top of those that are configured, whose places they take if they
// have the same names. Without any, it is those that are configured. The error has the problems of all of them.
func Check(ctx context.Context, c Configured, paths []string) (Checked, error) {
	files, err := expand(paths)
	if err != nil {
		return Checked{}, err
	}
	given, unread := readFiles(files)
	return checkGiven(ctx, c, given, unread, nil)
}

// Read reads files, and those of directories. What cannot be read is a problem.
func Read(paths []string) ([]blueprint.Source, []yamldoc.Problem, error) {
	files, err := expand(paths)
	if err != nil {
		return nil, nil, err
	}
	sources, problems := readFiles(files)
	return sources, problems, nil
}

// Written finds the built-in and the configured blueprints as they are written, except those of files that are given.
// What is wrong with them is for CheckParsed to say.
func Written(c Configured, given []blueprint.Source) (original.Lookup, error) {
	s, err := Builtin()
	if err != nil {
		return nil, err
	}
	configured, _, err := readDir(c.Dir)
	if err != nil {
		return nil, err
	}
	s.add(except(slices.Concat(configured, c.More), given)...)
	return func(name string) *yaml.Node { return s.entries[name].node }, nil
}

// CheckParsed is Check for files that have been read already, some problems of which are known: parsed is what is in
// them now, by their names.
func CheckParsed(ctx context.Context, c Configured, given []blueprint.Source, known []yamldoc.Problem,
	parsed map[string]*yaml.Node,
) (Checked, error) {
	return checkGiven(ctx, c, given, known, parsed)
}

func checkGiven(ctx context.Context, c Configured, given []blueprint.Source, unread []yamldoc.Problem,
	parsed map[string]*yaml.Node,
) (Checked, error) {
	s, err := Builtin()
	if err != nil {
		return Checked{}, err
	}
	configured, problems, err := readDir(c.Dir)
	if err != nil {
		return Checked{}, err
	}
	configured = append(configured, c.More...)
	platform, customs := configured, []blueprint.Source(nil)
	if len(given)+len(unread) > 0 {
		if problems = append(problems, s.add(except(configured, given)...)...); len(problems) > 0 {
			problems = s.check(problems, s.own, nil) // as Load says
		}
		s.language, s.parsed = s.language.recounted(), parsed // what is given takes the place of what is configured
		platform, customs = split(given)
		problems = append(problems, unread...)
	}
	problems = append(problems, s.add(platform...)...)
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
	for _, source := range slices.Concat(platform, customs) {
		done.Files = append(done.Files, source.Name)
	}
	slices.SortFunc(done.Files, func(a, b string) int { // in the same order with either separator
		return strings.Compare(filepath.ToSlash(a), filepath.ToSlash(b))
	})
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

// except leaves out the sources that are one of others, by whatever path.
func except(sources, others []blueprint.Source) []blueprint.Source {
	return slices.DeleteFunc(sources, func(s blueprint.Source) bool {
		info, err := os.Stat(s.Name)
		return err == nil && slices.ContainsFunc(others, func(o blueprint.Source) bool {
			other, err := os.Stat(o.Name)
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
	slices.SortStableFunc(files, func(a, b string) int { return strings.Compare(filepath.Clean(a), filepath.Clean(b)) })
	return slices.CompactFunc(files, func(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }), nil
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

// check adds to the problems of blueprints as they are written those that they have with everything inherited, each
// once. It is the one check: of files that are validated, of those that are loaded, and of a user's own blueprint.
// extraChecks finds what else is wrong with one that can be provisioned; nil for nothing.
func (s *Set) check(written []yamldoc.Problem, all []entry, extraChecks func(Draft) []string) []yamldoc.Problem {
	c := checking{set: s, extraChecks: extraChecks, known: places(written), found: map[yamldoc.Problem]string{}}
	all = slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.node == nil })
	for _, e := range all {
		delete(c.known, place(e.file, e.node.Line, e.node.Column)) // of the whole, not of a field
	}
	for _, e := range all {
		if len(written)+len(c.order) > yamldoc.MaxProblems {
			break
		}
		c.check(e)
	}
	for _, p := range c.order {
		if name := c.found[p]; name != "" {
			p.Message = "blueprint " + name + ": " + p.Message
		}
		written = append(written, p)
	}
	return written
}

// checking is a check of several blueprints.
type checking struct {
	set         *Set
	extraChecks func(Draft) []string
	// known are the places of which a problem has been reported: what follows from one of them is not reported.
	known map[yamldoc.Problem]bool
	// found is the blueprint that has a problem: the one where it was written, if that one has it, too.
	found map[yamldoc.Problem]string
	order []yamldoc.Problem
}

// check finds the problems of a blueprint. One that is not whole, as it is a template or inherits from what there is
// not, is checked as far as its values go.
func (c *checking) check(e entry) {
	chain, broken := c.set.lineage(e)
	if broken != nil && !c.known[place(broken.File, broken.Line, broken.Column)] {
		c.add(*broken, "", "")
	}
	whole := broken == nil && !e.isTemplate && !slices.ContainsFunc(chain, c.templateUnknown)
	for _, f := range c.set.merge(chain, Order{}).problems(whole, c.extraChecks) {
		if !c.known[place(f.File, f.Line, f.Column)] {
			c.add(f.Problem, e.name, f.layer)
		}
	}
}

// templateUnknown reports whether it is not known what a blueprint inherits from.
func (c *checking) templateUnknown(e entry) bool {
	at := yamldoc.Field(e.node, "template")
	return at != nil && c.known[place(e.file, at.Line, at.Column)] || e.custom && e.template == ""
}

func (c *checking) add(p yamldoc.Problem, name, layer string) {
	if _, again := c.found[p]; !again {
		c.order = append(c.order, p)
		c.found[p] = name
	}
	if name == layer {
		c.found[p] = name
	}
}

func places(problems []yamldoc.Problem) map[yamldoc.Problem]bool {
	all := map[yamldoc.Problem]bool{}
	for _, p := range problems {
		all[place(p.File, p.Line, p.Column)] = true
	}
	return all
}

// place is where a problem is, whichever it is.
func place(file string, line, column int) yamldoc.Problem {
	return yamldoc.Problem{File: file, Line: line, Column: column}
}

// finding is a problem of a field, and the blueprint where the field was written.
type finding struct {
	yamldoc.Problem
	layer string
}

// problems are those that a blueprint has for every user.
func (d Draft) problems(whole bool, extraChecks func(Draft) []string) (all []finding) {
	b, err := d.decode(withoutUser(d.merged))
	if err != nil {
		return []finding{{Problem: d.own.problem("", "%v", err), layer: d.own.name}}
	}
	var found []string
	if whole && extraChecks != nil {
		found = extraChecks(d)
	}
	found = append(found, d.validate(b, whole, slices.Collect(maps.Keys(d.merged.Expressions())))...)
	for _, p := range found {
		all = append(all, d.locate(p))
	}
	return all
}

// locate finds where the field of a problem was written, which may be in an ancestor.
func (d Draft) locate(problem string) finding {
	at := d.merged.Find(subject(problem))
	if at.File == "" {
		return finding{Problem: yamldoc.Problem{Message: at.Layer + " " + problem}}
	}
	return finding{yamldoc.Problem{File: at.File, Line: at.Line, Column: at.Column, Message: problem}, at.Layer}
}

// validate leaves out problems about some fields.
func (d Draft) validate(b blueprint.Blueprint, whole bool, except []string) []string {
	problems := b.ValidateValues()
	if whole {
		problems = append(b.Validate(), b.ValidateOwn(d.isOwn)...)
	}
	return slices.DeleteFunc(problems, func(p string) bool { return about(p, except) })
}
