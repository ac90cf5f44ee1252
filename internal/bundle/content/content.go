package content

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Content is what a bundle contains. It can be read from several goroutines, until it
// is closed, also after the cache has let it go.
type Content struct {
	Digest string // sha256: and hexadecimal digits
	Size   int64  // bytes of all files
	Files  int
	// SignedBy is the key by which it was signed, of content that was just fetched and verified; empty otherwise.
	SignedBy string

	archive *os.File
	packed  int64 // bytes of the archive
	view    *os.File
	files   fs.FS
}

func newContent(digest string, archive *os.File, v *view) (*Content, error) {
	files, err := v.finish()
	if err != nil {
		return nil, err
	}
	info, err := archive.Stat()
	if err != nil {
		return nil, diskFault(err)
	}
	return &Content{
		Digest: digest, Size: v.bytes, Files: v.files, archive: archive, packed: info.Size(), view: v.file,
		files: files,
	}, nil
}

// FS has the files, read-only.
func (c *Content) FS() fs.FS { return c.files }

// Open reads the archive, a tar file compressed with gzip.
func (c *Content) Open() (io.ReadSeekCloser, error) {
	return archive{io.NewSectionReader(c.archive, 0, c.packed)}, nil
}

// Close gives back what the content has open. What was opened of it cannot be read any
// more.
func (c *Content) Close() error { return errors.Join(c.archive.Close(), c.view.Close()) }

type archive struct{ *io.SectionReader }

// Close leaves the archive to the content.
func (archive) Close() error { return nil }

var errDigest = errors.New("content: an archive does not have its digest")

// read verifies an archive of the cache and makes content of it.
func read(root *os.Root, archive *os.File, digest string) (*Content, error) {
	compressed, err := gzip.NewReader(bufio.NewReader(archive))
	if err != nil {
		return nil, err
	}
	v, err := newView(root)
	if err != nil {
		return nil, err
	}
	content, err := func() (*Content, error) {
		hash := sha256.New()
		if err := v.fill(io.TeeReader(compressed, hash)); err != nil {
			return nil, err
		}
		if algorithm+hex.EncodeToString(hash.Sum(nil)) != digest {
			return nil, errDigest
		}
		return newContent(digest, archive, v)
	}()
	if err != nil {
		v.file.Close()
	}
	return content, err
}

// fill takes the files of a canonical tar file, which it reads to the end.
func (v *view) fill(r io.Reader) error {
	files, buffer := tar.NewReader(r), make([]byte, copyBuffer)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, r)
			return err
		}
		if err != nil {
			return err
		}
		w, err := v.add(header.Name, header.Size)
		if err == nil {
			_, err = io.CopyBuffer(w, files, buffer)
		}
		if err != nil {
			return err
		}
	}
}

// view are the files of content as they are read: an uncompressed zip file without a
// name, of which the standard library makes a file system that checks what it reads.
type view struct {
	file  *os.File
	out   *bufio.Writer
	zip   *zip.Writer
	bytes int64
	files int
}

func newView(root *os.Root) (*view, error) {
	file, err := scratch(root)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(disk{file}, copyBuffer)
	return &view{file: file, out: out, zip: zip.NewWriter(out)}, nil
}

// add takes the next file; a file is written before the next one is added.
func (v *view) add(name string, size int64) (io.Writer, error) {
	header := &zip.FileHeader{Name: name, Method: zip.Store}
	header.SetMode(0o444)
	v.bytes += size
	v.files++
	return v.zip.CreateHeader(header)
}

// finish gives the file system.
func (v *view) finish() (fs.FS, error) {
	err := errors.Join(v.zip.Close(), v.out.Flush())
	if err != nil {
		return nil, err
	}
	end, err := v.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, diskFault(err)
	}
	return zip.NewReader(v.file, end)
}
