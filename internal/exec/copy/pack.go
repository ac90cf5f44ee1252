package copy

import (
	"archive/tar"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

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
		if i.info.IsDir() {
			if err := p.tar.WriteHeader(p.header(i, p.lastMode(i))); err != nil {
				return err
			}
		}
	}
	end := &tar.Header{Typeflag: tar.TypeReg, Name: "complete", Mode: 0o600, Format: p.format}
	if err := p.tar.WriteHeader(end); err != nil {
		return err
	}
	return p.tar.Close()
}

// lastMode is the mode of a directory when it is complete. The other end looks into what
// is sent, and gives it its own mode when it has its name.
func (p *packer) lastMode(i item) fs.FileMode {
	mode := i.info.Mode().Perm()
	if i.name == "." {
		mode |= 0o700
	}
	return mode
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
