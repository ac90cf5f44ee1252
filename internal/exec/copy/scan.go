package copy

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/berthdev/berth/internal/fault"
)

// item is a file, link or directory of this machine that is to be sent.
type item struct {
	name  string // below what is sent: "." for itself
	info  fs.FileInfo
	link  string // what a symbolic link points to
	first string // of the same file under another name, the one that was met before
}

// scan is all that is to be sent, directories before what is in them. It reads the
// names and looks whether everything can be read; what cannot is named, all of it.
type scan struct {
	root     *os.Root
	items    []item
	bytes    int64
	problems []error
	met      map[fileID]string
}

// sourcePath is a path of this machine, and what is sent of it.
func sourcePath(name string) (dir, base string, k kind, err error) {
	of := sourceOf(filepath.ToSlash(name))
	info, err := os.Lstat(name)
	if err == nil && of.base == "." {
		info, err = os.Stat(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", "", fault.New(fault.NotFound, "%s does not exist on this machine", name)
	case err != nil:
		return "", "", "", cannot("read", name, err)
	case of.base == "." && !info.IsDir():
		return "", "", "", fault.New(fault.NotFound, "%s is not a directory", name)
	case of.base == "." && of.name == "":
		return name, "", kindContents, nil
	case of.base == ".":
		return name, of.name, kindDir, nil
	case info.IsDir():
		return name, of.name, kindDir, nil
	case info.Mode()&fs.ModeSymlink != 0:
		return filepath.Dir(name), of.name, kindLink, nil
	}
	return filepath.Dir(name), of.name, kindFile, nil
}

// newScan reads what is to be sent: a tree is the directory dir itself.
func newScan(dir, base string, k kind) (*scan, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, cannot("read", dir, err)
	}
	s := &scan{root: root, met: map[fileID]string{}}
	at := "."
	if !k.isTree() {
		at = base
	}
	s.add(at)
	if len(s.problems) > 0 {
		root.Close()
		if len(s.problems) == 1 {
			return nil, fault.New(fault.Failed, "nothing was copied: %w", s.problems[0])
		}
		return nil, several(fault.Failed, "nothing was copied", s.problems)
	}
	return s, nil
}

// add takes one name, and what is in it if it is a directory.
func (s *scan) add(name string) {
	info, err := s.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		s.cannotRead(name, err)
		return
	}
	i := item{name: name, info: info}
	switch mode := info.Mode(); {
	case mode.IsDir():
		s.items = append(s.items, i)
		s.directory(name)
		return
	case mode&fs.ModeSymlink != 0:
		i.link, err = s.root.Readlink(filepath.FromSlash(name))
	case mode.IsRegular():
		err = s.regular(&i)
	default:
		err = fault.New(fault.Failed, "%s is a %s, not a file", s.path(name), describe(mode))
	}
	if err != nil {
		s.cannotRead(name, err)
		return
	}
	s.items = append(s.items, i)
}

func (s *scan) regular(i *item) error {
	if id, several := idOf(i.info); several {
		if first, met := s.met[id]; met {
			i.first = first
			return nil
		}
		s.met[id] = i.name
	}
	file, err := s.root.Open(filepath.FromSlash(i.name))
	if err != nil {
		return err
	}
	file.Close()
	s.bytes += i.info.Size()
	return nil
}

func (s *scan) directory(name string) {
	entries, err := fs.ReadDir(s.root.FS(), name)
	if err != nil {
		s.cannotRead(name, err)
		return
	}
	for _, e := range entries {
		s.add(path.Join(name, e.Name()))
	}
}

// path is what a name is called on this machine.
func (s *scan) path(name string) string {
	return filepath.Join(s.root.Name(), filepath.FromSlash(name))
}

func (s *scan) cannotRead(name string, err error) {
	s.problems = append(s.problems, cannot("read", s.path(name), err))
}

func describe(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
