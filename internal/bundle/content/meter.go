package content

import (
	"bytes"
	"io"

	"github.com/berthdev/berth/internal/fault"
)

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
