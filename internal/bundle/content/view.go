package content

import (
	"archive/zip"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
)

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
