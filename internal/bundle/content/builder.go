package content

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"maps"
	"os"
	"path"
	"slices"
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
	links map[string]string // to be followed in the end
	taken int               // files and directories so far, also those that were removed
	bytes int64             // of files so far, also of those that were removed
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
	clean, err := b.place(name)
	switch {
	case err != nil:
		return err
	case size < 0:
		return Refuse(name, "a file of %d bytes", size)
	case size > b.limits.File:
		return b.largeFile(name)
	case size > b.limits.Unpacked-b.bytes:
		return b.large()
	}
	if err := b.parents(clean); err != nil {
		return err
	}
	if err := b.take(); err != nil {
		return err
	}
	file := extent{b.at, size}
	n, err := b.spooled(r, size)
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

// text takes a file whose size is not known before it is read.
func (b *Builder) text(name string, r io.Reader) error {
	clean, err := b.place(name)
	if err == nil {
		err = b.parents(clean)
	}
	if err == nil {
		err = b.take()
	}
	if err != nil {
		return err
	}
	most := min(b.limits.File, b.limits.Unpacked-b.bytes)
	file := extent{at: b.at}
	file.size, err = b.spooled(r, most)
	switch {
	case err != nil:
		return err
	case file.size > most:
		return b.largeFile(name)
	}
	b.files[clean] = file
	return nil
}

// place gives the name that a file gets, if none has it yet.
func (b *Builder) place(name string) (string, error) {
	clean, err := b.fit(name)
	if err != nil {
		return "", err
	}
	if clean == "." || strings.HasSuffix(name, "/") {
		return "", Refuse(name, "a file cannot have the name of a directory")
	}
	if _, ok := b.dirs[clean]; ok {
		return "", Refuse(name, "the name of both a file and a directory")
	}
	if _, ok := b.files[clean]; ok || b.links[clean] != "" {
		return "", Refuse(name, "the name of two files")
	}
	return clean, nil
}

// spooled writes what r has, but no more than a byte over most.
func (b *Builder) spooled(r io.Reader, most int64) (int64, error) {
	n, err := io.Copy(b.out, io.LimitReader(r, most+1))
	b.at += n
	b.bytes += n
	return n, err
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
	delete(b.links, name)
	if _, ok := b.dirs[name]; !ok {
		return
	}
	for file := range b.files {
		if strings.HasPrefix(file, name+"/") {
			delete(b.files, file)
		}
	}
	for link := range b.links {
		if strings.HasPrefix(link, name+"/") {
			delete(b.links, link)
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
		if _, ok := b.files[dir]; ok || b.links[dir] != "" {
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

// Seal makes content of what was taken, and keeps it in the cache. The archive is
// canonical: files alone, sorted by name, with no owner, one mode and no time. Its
// digest is that of the tar file before it is compressed, so that it does not depend
// on a compressor either.
func (b *Builder) Seal(ctx context.Context) (*Content, error) {
	switch {
	case b.root == nil:
		return nil, errors.New("content: the builder has been discarded")
	case len(b.files)+len(b.links) == 0:
		return nil, fault.New(fault.InvalidArgument, "the bundle is empty").
			WithHint("name a directory or an archive that has files in it")
	}
	if err := b.follow(); err != nil {
		return nil, err
	}
	if err := b.out.Flush(); err != nil {
		return nil, err
	}
	p, err := newPacker(b.root)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		file := b.files[name]
		if err := p.add(name, file.size, until(ctx, io.NewSectionReader(b.spool, file.at, file.size))); err != nil {
			p.discard(b.root)
			return nil, err
		}
	}
	content, err := p.finish()
	if err == nil {
		err = b.cache.keep(b.root, baseName(p.archive), content.Digest)
	}
	if err != nil {
		p.discard(b.root)
		return nil, err
	}
	return content, nil
}

// packer writes the canonical archive and, beside it, the view.
type packer struct {
	archive    *os.File
	out        *bufio.Writer
	compressed *gzip.Writer
	hash       hash.Hash
	tar        *tar.Writer
	view       *view
	buffer     []byte
}

func newPacker(root *os.Root) (*packer, error) {
	archive, err := create(root)
	if err != nil {
		return nil, err
	}
	p := &packer{archive: archive, hash: sha256.New(), buffer: make([]byte, copyBuffer)}
	if p.view, err = newView(root); err != nil {
		p.discard(root)
		return nil, err
	}
	p.out = bufio.NewWriterSize(disk{archive}, copyBuffer)
	// The texts of a bundle become small enough at any level.
	if p.compressed, err = gzip.NewWriterLevel(p.out, gzip.BestSpeed); err != nil {
		p.discard(root)
		return nil, err
	}
	p.tar = tar.NewWriter(io.MultiWriter(p.hash, p.compressed))
	return p, nil
}

func (p *packer) add(name string, size int64, r io.Reader) error {
	// The zero values of the rest are what is written; names that do not fit the
	// oldest format get a PAX header.
	err := p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644})
	if err != nil {
		return err
	}
	seen, err := p.view.add(name, size)
	if err == nil {
		_, err = io.CopyBuffer(io.MultiWriter(p.tar, seen), r, p.buffer)
	}
	return err
}

func (p *packer) finish() (*Content, error) {
	if err := errors.Join(p.tar.Close(), p.compressed.Close(), p.out.Flush()); err != nil {
		return nil, err
	}
	digest := algorithm + hex.EncodeToString(p.hash.Sum(nil))
	return newContent(digest, p.archive, p.view)
}

// discard leaves nothing.
func (p *packer) discard(root *os.Root) {
	_ = root.Remove(baseName(p.archive))
	p.archive.Close()
	if p.view != nil {
		p.view.file.Close()
	}
}
