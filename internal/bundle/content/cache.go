package content

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// Cache keeps archives in a directory under their digests, up to a number of bytes;
// those go first that were not used for longest. Several processes may use one: an
// archive gets its name when it is complete, and is verified before it is read, so that
// nothing depends on who wrote it.
type Cache struct {
	dir      string
	within   func() string // the directory of dir, if it is not dir itself
	max      int64
	verified *verified
}

// DefaultCacheSize is how many bytes a cache usually keeps.
const DefaultCacheSize = 1 << 30

// NewCache returns the cache in a directory, which is made when it is needed.
func NewCache(dir string, bytes int64) *Cache { return &Cache{dir, nil, bytes, newVerified()} }

// Within is the cache in a directory of this one's, for content that others must not have put there. The directory may
// become another one: what is in the one before is not found any more.
func (c *Cache) Within(dir func() string) *Cache { return &Cache{c.dir, dir, c.max, newVerified()} }

const (
	algorithm  = "sha256:"
	extension  = ".tgz"
	temporary  = "tmp-"
	hexOfHash  = 64
	ownerOnly  = 0o700
	ownersFile = 0o600
	// abandoned is the age after which a temporary file is nobody's: it is written
	// without a pause.
	abandoned = time.Hour
)

func (c *Cache) open() (*os.Root, error) {
	dir := c.dir
	if c.within != nil {
		dir = filepath.Join(dir, c.within())
	}
	err := os.MkdirAll(dir, ownerOnly)
	if err == nil {
		var root *os.Root
		if root, err = os.OpenRoot(dir); err == nil {
			return root, nil
		}
	}
	return nil, diskFault(err)
}

// Get opens the content with a digest. The error is fs.ErrNotExist if the cache does
// not have it; what is found damaged is removed.
func (c *Cache) Get(digest string) (*Content, error) {
	return use(c, digest, func(root *os.Root, archive *os.File) (*Content,
		error,
	) {
		return read(root, archive, digest)
	})
}

// use opens the file of an archive for what makes something of it.
func use[T any](c *Cache, digest string, take func(*os.Root, *os.File) (T, error)) (taken T, err error) {
	name, ok := archiveName(digest)
	if !ok {
		return taken, fault.New(fault.InvalidArgument, "invalid digest %q: must be sha256: and %d hexadecimal digits",
			digest, hexOfHash)
	}
	root, err := c.open()
	if err != nil {
		return taken, err
	}
	defer root.Close()
	archive, err := root.Open(name)
	if err != nil {
		return taken, err
	}
	if taken, err = take(root, archive); err != nil {
		archive.Close()
		if fault.CodeOf(err) == fault.Failed || errors.Is(err, context.Canceled) ||
			errors.Is(err, context.DeadlineExceeded) {
			return taken, err // of the disk or of the caller, not of the archive
		}
		_ = root.Remove(name)
		return taken, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	now := time.Now()
	_ = root.Chtimes(name, now, now) // its use; one who may only read keeps no order
	return taken, nil
}

// keep gives a temporary file the name of its digest, and makes room for it.
func (c *Cache) keep(root *os.Root, temp, digest string) error {
	name, _ := archiveName(digest)
	if err := root.Rename(temp, name); err != nil {
		// Not every system and file system replaces a file that is being read. Then it stays: it has this content, and
		// is verified when it is opened.
		if _, there := root.Stat(name); there != nil || root.Remove(temp) != nil {
			return diskFault(err)
		}
	}
	c.prune(root, time.Now())
	return nil
}

// prune removes what is too much, and what killed processes have left. A process that has an
// archive open can read it to its end.
func (c *Cache) prune(root *os.Root, now time.Time) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return // the next one tries again
	}
	var archives []fs.FileInfo
	var total int64
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // another process was faster, or it is nothing of ours
		}
		switch name := info.Name(); {
		case strings.HasPrefix(name, temporary):
			if now.Sub(info.ModTime()) > abandoned {
				_ = root.Remove(name)
			}
		case isArchive(name):
			archives = append(archives, info)
			total += info.Size()
		}
	}
	slices.SortFunc(archives, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, archive := range archives {
		if total <= c.max {
			return
		}
		if root.Remove(archive.Name()) == nil {
			total -= archive.Size()
		}
	}
}

// archiveName is the file of a digest. It is false for what is no digest, which may be
// a path.
func archiveName(digest string) (string, bool) {
	hex, ok := strings.CutPrefix(digest, algorithm)
	return hex + extension, ok && isArchive(hex+extension)
}

func isArchive(name string) bool {
	hex, ok := strings.CutSuffix(name, extension)
	return ok && len(hex) == hexOfHash && strings.Trim(hex, "0123456789abcdef") == ""
}

// create makes a temporary file.
func create(root *os.Root) (*os.File, error) {
	file, err := root.OpenFile(temporary+rand.Text(), os.O_RDWR|os.O_CREATE|os.O_EXCL, ownersFile)
	if err != nil {
		return nil, diskFault(err)
	}
	return file, nil
}

// scratch makes a file without a name, which is gone when it is closed, or when the
// process is killed.
func scratch(root *os.Root) (*os.File, error) {
	file, err := create(root)
	if err == nil {
		err = root.Remove(baseName(file))
	}
	if err != nil {
		if file != nil {
			file.Close()
		}
		return nil, diskFault(err)
	}
	return file, nil
}

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
