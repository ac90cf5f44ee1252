package copy

import (
	"archive/tar"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

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
