package content

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Builder takes files and makes content of them. Their bytes go one after the other
// into a file without a name, and their names into memory, so that no name of theirs
// ever gets to the file system. It is for one goroutine, and ends with Discard.
type Builder struct {
	cache  *Cache
	limits Limits
	root   *os.Root
	spool  *os.File
	out    *bufio.Writer // to the spool
	at     int64         // where its next byte goes

	files map[string]extent
	dirs  map[string]struct{}
	taken int   // files and directories so far, also those that were removed
	bytes int64 // of files so far, also of those that were removed
}

// extent is where a file is in the spool.
type extent struct{ at, size int64 }

// NewBuilder begins content that will be kept in the cache.
func NewBuilder(cache *Cache, limits Limits) (*Builder, error) {
	root, err := cache.open()
	if err != nil {
		return nil, err
	}
	spool, err := scratch(root)
	if err != nil {
		root.Close()
		return nil, err
	}
	b := &Builder{
		cache: cache, limits: limits, root: root, spool: spool, files: map[string]extent{},
		dirs: map[string]struct{}{},
	}
	b.out = bufio.NewWriterSize(disk{spool}, copyBuffer)
	return b, nil
}

// Discard gives back what the builder has on disk. Content that it has made stays.
func (b *Builder) Discard() {
	if b.root != nil {
		b.spool.Close()
		b.root.Close()
		b.root = nil
	}
}

// Add takes a regular file of so many bytes, which are read from r to its end. An
// error of r is returned as it is.
func (b *Builder) Add(name string, size int64, r io.Reader) error {
	clean, err := b.fit(name)
	switch {
	case err != nil:
		return err
	case clean == "." || strings.HasSuffix(name, "/"):
		return Refuse(name, "a file cannot have the name of a directory")
	case size < 0:
		return Refuse(name, "a file of %d bytes", size)
	case size > b.limits.File:
		return b.largeFile(name)
	case size > b.limits.Unpacked-b.bytes:
		return b.large()
	}
	if _, ok := b.dirs[clean]; ok {
		return Refuse(name, "the name of both a file and a directory")
	}
	if _, ok := b.files[clean]; ok {
		return Refuse(name, "the name of two files")
	}
	if err := b.parents(clean); err != nil {
		return err
	}
	if err := b.take(); err != nil {
		return err
	}
	n, err := io.Copy(b.out, io.LimitReader(r, size+1))
	file := extent{b.at, size}
	b.at += n
	b.bytes += n
	switch {
	case err != nil:
		return err
	case n < size:
		return Refuse(name, "ends after %d of %d bytes", n, size)
	case n > size:
		return Refuse(name, "is longer than the %d bytes that it was announced with", size)
	}
	b.files[clean] = file
	return nil
}

// directory takes a directory, of which nothing is kept: content has those that its
// files are in.
func (b *Builder) directory(name string) error {
	clean, err := b.fit(name)
	if err != nil || clean == "." {
		return err
	}
	return b.parents(clean + "/")
}

// Remove takes a file, or a directory and all that is in it, out again. Nothing is
// done if there is none.
func (b *Builder) Remove(name string) {
	name = path.Clean(name)
	delete(b.files, name)
	if _, ok := b.dirs[name]; !ok {
		return
	}
	for file := range b.files {
		if strings.HasPrefix(file, name+"/") {
			delete(b.files, file)
		}
	}
	for dir := range b.dirs {
		if dir == name || strings.HasPrefix(dir, name+"/") {
			delete(b.dirs, dir)
		}
	}
}

// fit gives the name as content has it.
func (b *Builder) fit(name string) (string, error) {
	if b.root == nil {
		return "", errors.New("content: the builder has been discarded")
	}
	return cleanName(name)
}

// parents takes the directories above a name.
func (b *Builder) parents(name string) error {
	for i, c := range name {
		if c != '/' {
			continue
		}
		dir := name[:i]
		if _, ok := b.dirs[dir]; ok {
			continue
		}
		if _, ok := b.files[dir]; ok {
			return Refuse(dir, "the name of both a file and a directory")
		}
		if err := b.take(); err != nil {
			return err
		}
		b.dirs[dir] = struct{}{}
	}
	return nil
}

// take counts a file or a directory.
func (b *Builder) take() error {
	if b.taken >= b.limits.Files {
		return exceed("more than %d files and directories", b.limits.Files)
	}
	b.taken++
	return nil
}

func (b *Builder) large() *fault.Error {
	return exceed("the files are larger than %s together", inUnits(b.limits.Unpacked))
}

func (b *Builder) largeFile(name string) *fault.Error {
	return exceed("%q: larger than %s", name, inUnits(b.limits.File))
}
