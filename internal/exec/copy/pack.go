package copy

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

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

// packer writes what was found as a tar stream: tree, what is in it, and at the very end
// the file by which the other end knows that it has everything.
type packer struct {
	*scan
	out    io.Writer
	tar    *tar.Writer
	format tar.Format
	meter  *Meter
}

// formatOf is what the other end's tar can read: all know the long names of GNU's
// format, but not all know the records of PAX, which have times to the nanosecond.
func formatOf(gnu bool) tar.Format {
	if gnu {
		return tar.FormatPAX
	}
	return tar.FormatGNU
}

func (p *packer) all() error {
	p.tar = tar.NewWriter(p.out)
	for _, i := range p.items {
		if err := p.item(i); err != nil {
			return err
		}
	}
	// Directories come again, the deepest first: now nothing is written to them any more.
	for _, i := range slices.Backward(p.items) {
		if !i.info.IsDir() {
			continue
		}
		mode := i.info.Mode().Perm()
		if i.name == "." {
			mode |= 0o700 // the other end looks into it, and sets its mode when it has its name
		}
		if err := p.tar.WriteHeader(p.header(i, mode)); err != nil {
			return err
		}
	}
	return complete(p.tar, p.format)
}

// complete ends a stream with the file by which the other end knows that it has everything.
func complete(to *tar.Writer, format tar.Format) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: "complete", Mode: 0o600, Format: format}
	if err := to.WriteHeader(h); err != nil {
		return err
	}
	return to.Close()
}

func (p *packer) item(i item) error {
	switch {
	case i.info.IsDir():
		return p.tar.WriteHeader(p.header(i, i.info.Mode().Perm()|0o700))
	case i.link != "" || i.first != "":
		if i.first != "" {
			p.meter.Files.Add(1)
		}
		return p.tar.WriteHeader(p.header(i, i.info.Mode().Perm()))
	}
	return p.file(i)
}

func (p *packer) header(i item, mode fs.FileMode) *tar.Header {
	h := &tar.Header{
		Typeflag: tar.TypeReg, Name: p.inTree(i.name), Mode: int64(mode), Size: i.info.Size(),
		ModTime: i.info.ModTime(), Format: p.format,
	}
	if p.format == tar.FormatGNU {
		h.ModTime = h.ModTime.Truncate(time.Second)
	}
	switch {
	case i.info.IsDir():
		h.Typeflag, h.Size, h.Name = tar.TypeDir, 0, h.Name+"/"
	case i.first != "":
		h.Typeflag, h.Size, h.Linkname = tar.TypeLink, 0, p.inTree(i.first)
	case i.link != "":
		h.Typeflag, h.Size, h.Linkname = tar.TypeSymlink, 0, i.link
	}
	return h
}

// inTree is the name in the stream; what is sent alone is the tree itself.
func (p *packer) inTree(name string) string {
	if !p.items[0].info.IsDir() {
		return tree
	}
	return path.Join(tree, name)
}

// file sends a file with the size that it had when it was found.
func (p *packer) file(i item) error {
	file, err := p.root.Open(filepath.FromSlash(i.name))
	if err != nil {
		return cannot("read", p.path(i.name), err)
	}
	defer file.Close()
	if err := p.tar.WriteHeader(p.header(i, i.info.Mode().Perm())); err != nil {
		return err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{metered{p.tar, p.meter}}, io.LimitReader(file, i.info.Size()),
		make([]byte, copyBuffer))
	switch {
	case err != nil:
		return err
	case n < i.info.Size():
		return fault.New(fault.Failed, "%s has become shorter while it was copied; nothing was copied", i.name).
			WithHint("try again when nobody writes to it")
	}
	p.meter.Files.Add(1)
	return nil
}

// metered counts what is written.
type metered struct {
	io.Writer
	meter *Meter
}

func (m metered) Write(b []byte) (int, error) {
	n, err := m.Writer.Write(b)
	m.meter.Bytes.Add(int64(n))
	return n, err
}
