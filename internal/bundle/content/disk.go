package content

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/internal/fault"
)

// copyBuffer is for all files of content, one after the other.
const copyBuffer = 64 << 10 // bytes

// disk writes to a file of the cache: its errors are those of the cache, not of what
// is read at the same time.
type disk struct{ file *os.File }

// Write implements io.Writer.
func (d disk) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	return n, diskFault(err)
}

// diskFault says where there was no room, or no permission.
func diskFault(err error) error {
	if err == nil {
		return nil
	}
	if _, done := errors.AsType[*fault.Error](err); done {
		return err
	}
	return fault.New(fault.Failed, "cannot keep the content of the bundle on disk: %w", err).
		WithHint("make room there, or set XDG_CACHE_HOME to another directory")
}

func baseName(file *os.File) string { return filepath.Base(file.Name()) }

// readFunc is an io.Reader.
type readFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// until reads for as long as the context lasts.
func until(ctx context.Context, r io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}
