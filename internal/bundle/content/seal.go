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
	"slices"

	"github.com/berthdev/berth/internal/fault"
)

// Seal makes content of what was taken, and keeps it in the cache. The archive is
// canonical: files alone, sorted by name, with no owner, one mode and no time. Its
// digest is that of the tar file before it is compressed, so that it does not depend
// on a compressor either.
func (b *Builder) Seal(ctx context.Context) (*Content, error) {
	switch {
	case b.root == nil:
		return nil, errors.New("content: the builder has been discarded")
	case len(b.files) == 0:
		return nil, fault.New(fault.InvalidArgument, "the bundle is empty").
			WithHint("name a directory or an archive that has files in it")
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
