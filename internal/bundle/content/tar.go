package content

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"

	"github.com/berthdev/berth/internal/fault"
)

// Tar takes the files of a tar file, which may be compressed with gzip and is read to
// its end. Entries that content cannot have are all named in the error. An error of r
// is returned as it is.
func (b *Builder) Tar(ctx context.Context, r io.Reader) error { return b.TarOrText(ctx, r, "", nil) }

// TarOrText is Tar for what may also be a text, which no archive is: that becomes the one file of a name. If the name
// is empty, a text is refused. What check gives back of the text is taken, unless check is nil.
func (b *Builder) TarOrText(ctx context.Context, r io.Reader, name string,
	check func(text io.Reader) (io.Reader, error),
) error {
	var failed error // of r, which is not the archive's fault
	m, source := &meter{limits: b.limits}, until(ctx, r)
	in := bufio.NewReaderSize(m.compressed(readFunc(func(p []byte) (int, error) {
		n, err := source.Read(p)
		if err != nil && !errors.Is(err, io.EOF) {
			failed = err
		}
		return n, err
	})), copyBuffer)
	start, err := in.Peek(len(gzipMagic))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case len(start) == 0:
		return fault.New(fault.InvalidArgument, "the archive is empty").
			WithHint("pack the bundle: tar -czf bundle.tgz -C DIRECTORY .")
	}
	raw := io.Reader(in)
	if bytes.Equal(start, []byte(gzipMagic)) {
		if raw, err = gzip.NewReader(in); err != nil {
			return damaged(err, failed)
		}
	} else if name != "" && isText(in) {
		if isPage(in) {
			return fault.New(fault.InvalidArgument, "this is a page of HTML, neither a tar file nor YAML").
				WithHint("check that it is the address of the file itself, and whether it takes a login")
		}
		text := m.unpacked(in)
		if check != nil {
			if text, err = check(text); err != nil {
				return damaged(err, failed)
			}
		}
		return damaged(b.text(name, text), failed)
	} else if err := unknown(in); err != nil {
		return err
	}
	return damaged(b.entries(m, &ending{r: m.unpacked(raw)}), failed)
}

// entries takes all entries of an uncompressed tar file.
func (b *Builder) entries(m *meter, raw *ending) error {
	files := tar.NewReader(raw)
	var problems Problems
	for first := true; ; first = false {
		header, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return problems.Or(raw.finish())
		case first && errors.Is(err, tar.ErrHeader):
			return notTar()
		case err != nil:
			return problems.Or(err)
		}
		if err := b.entry(header, m.expanded(files)); err != nil && !problems.Add(err) {
			return problems.Or(err)
		}
	}
}

// entry takes what a header announces. Sparse files are expanded by the reader.
func (b *Builder) entry(header *tar.Header, r io.Reader) error {
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse,
		tar.TypeRegA: //nolint:staticcheck // archives still have the old one
		return b.Add(header.Name, header.Size, r)
	case tar.TypeDir:
		return b.directory(header.Name)
	case tar.TypeXGlobalHeader:
		return nil // a comment: git names the commit in it
	case tar.TypeSymlink:
		return b.Link(header.Name, header.Linkname)
	case tar.TypeLink:
		return Refuse(header.Name, "a hard link to %q; a bundle has files only", header.Linkname)
	case tar.TypeChar, tar.TypeBlock:
		return Refuse(header.Name, "a device; a bundle has files only")
	case tar.TypeFifo:
		return Refuse(header.Name, "a named pipe; a bundle has files only")
	}
	return Refuse(header.Name, "an entry of unknown type %q; a bundle has files only", header.Typeflag)
}

// damaged explains an error of an archive's format.
func damaged(err, failed error) error {
	if failed != nil {
		return failed
	}
	var own *fault.Error
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.InvalidArgument, "the archive is incomplete: %w", err).WithHint("fetch or pack it again")
	}
	// Whatever is left is said by the packages that read the format.
	return fault.New(fault.InvalidArgument, "the archive is damaged: %w", err).WithHint("fetch or pack it again")
}

// meter holds an archive to the limits while it is read.
type meter struct {
	limits Limits
	// in are the bytes read of the archive, raw those of it without its compression,
	// and out those of its files, more than raw if they have holes.
	in, raw, out int64
}

func (m *meter) compressed(r io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		if m.in += int64(n); m.in > m.limits.Compressed {
			return 0, exceed("the archive is larger than %s", inUnits(m.limits.Compressed))
		}
		return n, err
	})
}

func (m *meter) unpacked(r io.Reader) io.Reader { return m.count(r, &m.raw) }

func (m *meter) expanded(r io.Reader) io.Reader { return m.count(r, &m.out) }

func (m *meter) count(r io.Reader, bytes *int64) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		*bytes += int64(n)
		switch {
		case *bytes > m.limits.Unpacked:
			return 0, exceed("the archive is larger than %s unpacked", inUnits(m.limits.Unpacked))
		case *bytes > freeRatio && *bytes/m.limits.Ratio > m.in:
			return 0, exceed("the archive becomes more than %d times as large when it is unpacked", m.limits.Ratio)
		}
		return n, err
	})
}

// ending knows whether a tar file ends as it should: with two blocks of zeros, and
// nothing but zeros after them. One without was cut off, maybe between two files.
type ending struct {
	r     io.Reader
	zeros int // at the end of what was read, of which the last endOfTar matter
}

const endOfTar = 1024 // zeros

// Read implements io.Reader.
func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	last := p[max(0, n-endOfTar):n]
	rest := len(bytes.TrimRight(last, "\x00"))
	if rest > 0 {
		e.zeros = 0
	}
	e.zeros += len(last) - rest
	return n, err
}

// finish reads what follows the last file.
func (e *ending) finish() error {
	if e.zeros < endOfTar {
		return io.ErrUnexpectedEOF
	}
	_, err := io.Copy(nothing{}, e.r)
	return err
}

// nothing takes zeros alone.
type nothing struct{}

// Write implements io.Writer.
func (nothing) Write(p []byte) (int, error) {
	if len(bytes.TrimLeft(p, "\x00")) > 0 {
		return 0, fault.New(fault.InvalidArgument, "the archive has data after its end").
			WithHint("pack it as one tar file; several that are put together are not read")
	}
	return len(p), nil
}
