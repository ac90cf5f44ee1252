package git

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
)

// storage is where a pack is kept, in memory or in a file.
type storage struct {
	io.ReaderAt
	size int64
}

// inMemory keeps a pack that is there already.
func inMemory(content []byte) storage { return storage{bytes.NewReader(content), int64(len(content))} }

// keep stores a pack as it is sent: in memory, or in a file of the directory if there
// is one. The file has no name any more when keep returns, so that nothing is left
// behind by whatever ends the program; closing it gives the space back.
func keep(pack io.Reader, limit int64, dir string) (_ storage, file *os.File, err error) {
	limited := http.MaxBytesReader(nil, io.NopCloser(pack), limit)
	if dir == "" {
		content, err := io.ReadAll(limited)
		return inMemory(content), nil, err
	}
	if file, err = os.CreateTemp(dir, "pack-"); err != nil {
		return storage{}, nil, err
	}
	if err = os.Remove(file.Name()); err == nil {
		var size int64
		if size, err = io.Copy(file, limited); err == nil {
			return storage{file, size}, file, nil
		}
	}
	file.Close()
	return storage{}, nil, err
}

// reader reads a pack from its beginning until the context ends.
func (s storage) reader(ctx context.Context) io.ReadSeeker {
	return &interruptible{io.NewSectionReader(s, 0, s.size), ctx.Err}
}

// interruptible is a content whose reader is stopped by an error, such as that of
// a context that has ended.
type interruptible struct {
	io.ReadSeeker
	err func() error
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.err(); err != nil {
		return 0, err
	}
	return r.ReadSeeker.Read(p)
}
