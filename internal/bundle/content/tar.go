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
func (b *Builder) Tar(ctx context.Context, r io.Reader) error {
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
		return Refuse(header.Name, "a symbolic link to %q; a bundle has files only", header.Linkname)
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
