package copy

import (
	"archive/tar"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
)

// staging is the temporary directory beside the final name of what arrives. All names go
// through roots, which no link leads out of.
type staging struct {
	to   target
	at   *os.Root // the directory in which the temporary one is
	name string   // of the temporary one
	root *os.Root // the temporary one
	hold *os.File // tells others that its process lives
	// merged are the directories in at that were there, and got something added.
	merged map[string]bool
}

// stage removes what killed runs have left there, and makes a temporary directory.
func stage(to target) (*staging, error) {
	at, err := os.OpenRoot(to.dir)
	if err != nil {
		return nil, cannot("write to", to.dir, err)
	}
	return stageIn(at, to)
}

func stageIn(at *os.Root, to target) (*staging, error) {
	removeStale(at)
	s := &staging{to: to, at: at, name: Temporary + token(), merged: map[string]bool{}}
	if err := s.make(); err != nil {
		s.discard()
		return nil, cannot("write to", to.dir, err)
	}
	return s, nil
}

func (s *staging) make() (err error) {
	if err := s.at.Mkdir(s.name, 0o700); err != nil {
		return err
	}
	if s.hold, err = s.at.Open(s.name); err != nil {
		return err
	}
	if s.root, err = s.at.OpenRoot(s.name); err != nil {
		return err
	}
	if !hold(s.hold) {
		return fault.New(fault.Conflict, "%s is being removed by another command", filepath.Join(s.to.dir, s.name)).
			WithHint("try again")
	}
	_, err = s.at.Lstat(s.name)
	return err
}

// removeStale removes the temporary directories whose processes are gone.
func removeStale(at *os.Root) {
	if !canHold {
		return
	}
	names, _ := fs.Glob(at.FS(), Temporary+"*")
	for _, name := range names {
		dir, err := at.Open(name)
		if err != nil {
			continue
		}
		if hold(dir) {
			_ = at.RemoveAll(name) // it is named so that a person sees what it is
		}
		dir.Close()
	}
}

// discard removes the temporary directory.
func (s *staging) discard() {
	if s.root != nil {
		s.root.Close()
	}
	_ = s.at.RemoveAll(s.name)
	if s.hold != nil {
		s.hold.Close()
	}
	s.at.Close()
}

// place gives what has arrived its final name: at once, or file by file in a directory
// that exists. Nothing is changed if a directory and a file would have one name. If a file
// cannot be placed for another reason, those before it are there already, each as a whole.
func (s *staging) place() error {
	from := path.Join(s.name, tree)
	if !s.to.merge {
		return cannot("write", s.to.path(), replace(s.at, from, s.to.name))
	}
	conflicts, err := s.conflicts(from, ".")
	switch {
	case err != nil:
		return cannot("write to", s.to.dir, err)
	case len(conflicts) == 1:
		return conflicts[0]
	case len(conflicts) > 1:
		return several(fault.Conflict, "nothing was copied", conflicts)
	}
	return cannot("write to", s.to.dir, s.merge(from, "."))
}

// conflicts are the things that cannot take the place of what is there.
func (s *staging) conflicts(from, to string) (all []error, err error) {
	err = s.each(from, to, func(e fs.DirEntry, from, to string) error {
		info, err := s.at.Lstat(to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() && info.IsDir():
			deeper, err := s.conflicts(from, to)
			all = append(all, deeper...)
			return err
		case e.IsDir():
			all = append(all, notDirectory(filepath.Join(s.to.dir, to)))
		case info.IsDir():
			all = append(all, isDirectory(filepath.Join(s.to.dir, to)))
		}
		return nil
	})
	return all, err
}

func (s *staging) merge(from, to string) error {
	s.merged[to] = true
	mounted := false
	err := s.each(from, to, func(e fs.DirEntry, from, into string) error {
		if info, err := s.at.Lstat(into); err == nil && info.IsDir() && e.IsDir() {
			return s.merge(from, into)
		}
		err := replace(s.at, from, into)
		mounted = fault.IsOtherFileSystem(err) && to != "."
		return cannot("write", filepath.Join(s.to.dir, into), err)
	})
	if mounted {
		return s.cross(from, to)
	}
	return err
}

// each calls do for all that is in a directory of the tree.
func (s *staging) each(from, to string, do func(e fs.DirEntry, from, to string) error) error {
	dir, err := s.at.Open(from)
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	dir.Close()
	for _, e := range entries {
		if err == nil {
			err = do(e, path.Join(from, e.Name()), path.Join(to, e.Name()))
		}
	}
	return err
}

// several are many errors as one, which names all of them.
func several(code fault.Code, message string, all []error) error {
	err := fault.New(code, "%s: %s", message, english.Plural(len(all), "problem"))
	for _, problem := range all {
		err.Problems = append(err.Problems, problem.Error())
	}
	slices.Sort(err.Problems)
	return err
}

// cross merges a directory of the tree with one on which another file system is mounted.
// Nothing can be renamed to there, so it gets a copy in a temporary directory of its own:
// from that, files get their final names when they are complete, as everywhere.
func (s *staging) cross(from, to string) error {
	dir := filepath.Join(s.to.dir, filepath.FromSlash(to))
	at, err := s.at.OpenRoot(to)
	if err != nil {
		return cannot("write to", dir, err)
	}
	beside, err := stageIn(at, target{dir: dir, merge: true})
	if err != nil {
		return err
	}
	defer beside.discard()
	c := &carrier{from: s, to: &extractor{root: beside.root, to: beside.to, from: source{base: "."}, meter: &Meter{}}}
	if err := c.all(from); err != nil {
		return err
	}
	err = beside.merge(path.Join(beside.name, tree), ".")
	for name := range beside.merged {
		s.merged[path.Join(to, name)] = true
	}
	return err
}

// carrier copies what has arrived to another temporary directory.
type carrier struct {
	from *staging
	to   *extractor
	met  map[fileID]string // the files with several names
}

func (c *carrier) all(from string) error {
	c.met, c.to.dirs = map[fileID]string{}, map[string]attributes{}
	if err := c.to.root.Mkdir(tree, 0o700); err != nil {
		return c.to.cannotWrite(tree, err)
	}
	if err := c.from.each(from, tree, c.carry); err != nil {
		return err
	}
	return c.to.finish()
}

func (c *carrier) carry(_ fs.DirEntry, from, to string) error {
	info, err := c.from.at.Lstat(from)
	if err != nil {
		return c.to.cannotWrite(to, err)
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime()}
	switch {
	case info.IsDir():
		h.Typeflag = tar.TypeDir
		if err := c.to.write(to, h, nil); err != nil {
			return c.to.cannotWrite(to, err)
		}
		return c.from.each(from, to, c.carry)
	case info.Mode()&fs.ModeSymlink != 0:
		h.Typeflag = tar.TypeSymlink
		if h.Linkname, err = c.from.at.Readlink(from); err == nil {
			err = c.to.write(to, h, nil)
		}
		return c.to.cannotWrite(to, err)
	}
	return c.to.cannotWrite(to, c.file(h, info, from, to))
}

func (c *carrier) file(h *tar.Header, info fs.FileInfo, from, to string) error {
	if id, several := idOf(info); several {
		if first, met := c.met[id]; met {
			return c.to.root.Link(first, to)
		}
		c.met[id] = to
	}
	if h.Mode&0o400 == 0 { // it is only a copy that nobody may read, and is removed
		if err := c.from.at.Chmod(from, os.FileMode(h.Mode)|0o400); err != nil {
			return err
		}
	}
	content, err := c.from.at.Open(from)
	if err != nil {
		return err
	}
	defer content.Close()
	return c.to.write(to, h, content)
}
