package content

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"sync"
)

// Archive opens the archive of a digest alone, to be passed on: nothing is written for
// it. It is verified the first time that its file is opened. The errors are those of Get.
func (c *Cache) Archive(ctx context.Context, digest string) (io.ReadSeekCloser, error) {
	return use(c, digest, func(_ *os.Root, file *os.File) (io.ReadSeekCloser, error) {
		info, err := file.Stat()
		if err != nil {
			return nil, diskFault(err)
		}
		if err := c.verified.check(ctx, digest, file, info); err != nil {
			return nil, err
		}
		return alone{io.NewSectionReader(file, 0, info.Size()), file}, nil
	})
}

// Archive is the archive without the rest of the content, which is closed.
func (c *Content) Archive() io.ReadSeekCloser {
	_ = c.view.Close() // it has no name, and nobody reads it any more
	return alone{io.NewSectionReader(c.archive, 0, c.packed), c.archive}
}

// alone is an archive that its reader closes.
type alone struct {
	*io.SectionReader
	io.Closer
}

// verified are the files that have been found to have their digests.
type verified struct {
	turn chan struct{} // has the one that verifies: each takes a CPU
	mu   sync.Mutex
	good map[string]fs.FileInfo
}

func newVerified() *verified {
	return &verified{turn: make(chan struct{}, 1), good: map[string]fs.FileInfo{}}
}

func (v *verified) has(digest string, info fs.FileInfo) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.good[digest]
	return known != nil && os.SameFile(known, info) && known.Size() == info.Size()
}

// check verifies a file, unless that has been done.
func (v *verified) check(ctx context.Context, digest string, file io.Reader, info fs.FileInfo) error {
	if v.has(digest, info) {
		return nil
	}
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if v.has(digest, info) {
		return nil // by the one before
	}
	hash := sha256.New()
	compressed, err := gzip.NewReader(bufio.NewReader(until(ctx, file)))
	if err == nil {
		_, err = io.Copy(hash, compressed) //nolint:gosec // nothing is kept of it
	}
	if err == nil && algorithm+hex.EncodeToString(hash.Sum(nil)) != digest {
		err = errDigest
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.good, digest)
	if err == nil {
		v.good[digest] = info
	}
	return err
}
