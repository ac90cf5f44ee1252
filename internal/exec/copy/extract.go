package copy

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

const (
	// maxEntries is how many files and directories one copy may have: what is known of them is held in memory.
	maxEntries = 5_000_000
	// maxFile is how large a file may be: sparse ones can claim any size.
	maxFile = 16 << 40
	// maxRefused is how many refused entries are named.
	maxRefused = 100
	// keptModes are the bits of a mode that are kept. Those that let a program run as its
	// owner are not: it comes from elsewhere.
	keptModes = 0o777
)

// extractor writes the entries of a stream below the temporary directory. The stream is
// hostile: nothing but what is checked here gets to the file system.
type extractor struct {
	root    *os.Root
	to      target
	from    source
	links   bool // keep links that lead out
	meter   *Meter
	dirs    map[string]attributes // that were made
	refused []error
	entries int
}

// attributes are set when nothing is written to a directory any more.
type attributes struct {
	mode fs.FileMode
	time time.Time
}

// all writes the entries: the first one, which has been read, and those after it.
func (x *extractor) all(first *tar.Header, stream *tar.Reader) error {
	x.dirs = map[string]attributes{}
	for header := first; header != nil; {
		if err := x.entry(header, stream); err != nil {
			return err
		}
		next, err := stream.Next()
		switch {
		case errors.Is(err, io.EOF):
		case err != nil:
			return streamFault(err)
		}
		header = next
	}
	if len(x.refused) > 0 {
		return x.refusal()
	}
	return x.finish()
}

// refusal is the error about what was refused.
func (x *extractor) refusal() error {
	if len(x.refused) == 1 {
		return x.refused[0]
	}
	return several(fault.Failed, "refused what the other end has sent", x.refused)
}

// entry writes one entry.
func (x *extractor) entry(header *tar.Header, content io.Reader) error {
	x.entries++
	if x.entries > maxEntries {
		return fault.New(fault.Failed, "more than %d files at once", maxEntries).WithHint("copy parts of it")
	}
	name, err := x.admit(header, x.check)
	if err != nil || name == "" {
		return err
	}
	return x.cannotWrite(name, x.write(name, header, content))
}

// admit is where an entry is written that passes the check; empty for none. What cannot be copied
// is remembered, and nothing more is written then: only the other names are looked at.
func (x *extractor) admit(header *tar.Header, check func(name string, header *tar.Header) error) (string, error) {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return "", nil
	}
	name, err := x.from.within(header.Name)
	if err == nil {
		err = check(name, header)
	}
	if err != nil {
		x.refused = append(x.refused, err)
	}
	switch {
	case err != nil && len(x.refused) >= maxRefused:
		return "", x.refusal()
	case len(x.refused) > 0:
		return "", nil
	}
	return name, nil
}

// check finds what is wrong with an entry whose name is not.
func (x *extractor) check(name string, header *tar.Header) error {
	if _, made := x.dirs[path.Dir(name)]; !made && name != tree && len(x.refused) == 0 {
		return refuse(header.Name, "it is in no directory that was sent before it")
	}
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeDir:
		if header.Size > maxFile {
			return refuse(header.Name, "a file of %d bytes", header.Size)
		}
		return nil
	case tar.TypeSymlink:
		if !x.links && leadsOut(name, header.Linkname) {
			err := fault.From(refuse(header.Name, "it is a link to %q, which is not copied with it", header.Linkname))
			if name == tree {
				return err.WithHint("with a slash at its end, the path means what the link points to; " +
					"--outside-links copies the link")
			}
			return err.WithHint("--outside-links copies such links as they are")
		}
		return nil
	case tar.TypeLink:
		_, err := x.from.within(header.Linkname)
		return err
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return refuse(header.Name, "it is a device or a pipe, not a file").
			WithHint("remove it there, or copy other parts")
	}
	return refuse(header.Name, "its type %q is not known", header.Typeflag)
}

// write makes one entry. Nothing that exists is written to.
func (x *extractor) write(name string, header *tar.Header, content io.Reader) error {
	switch header.Typeflag {
	case tar.TypeDir:
		if _, made := x.dirs[name]; !made {
			if err := x.root.Mkdir(name, 0o700); err != nil {
				return err
			}
		}
		x.dirs[name] = attributes{fs.FileMode(header.Mode) & keptModes, header.ModTime}
		return nil
	case tar.TypeSymlink:
		return x.root.Symlink(header.Linkname, name)
	case tar.TypeLink:
		old, err := x.from.within(header.Linkname)
		if err != nil {
			return err
		}
		x.meter.Files.Add(1)
		return x.root.Link(old, name)
	}
	return x.file(name, header, content)
}

func (x *extractor) file(name string, header *tar.Header, content io.Reader) error {
	file, err := x.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := &sparseWriter{file: file, meter: x.meter}
	_, err = io.CopyBuffer(w, onlyReader{content}, make([]byte, copyBuffer))
	if err == nil {
		err = w.finish()
	}
	if err == nil {
		err = file.Chmod(fs.FileMode(header.Mode) & keptModes)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return streamFault(err)
	}
	x.meter.Files.Add(1)
	return x.root.Chtimes(name, header.ModTime, header.ModTime)
}

func (x *extractor) cannotWrite(name string, err error) error {
	return cannot("write", filepath.Join(x.to.dir, x.to.final(name)), err)
}

// finish sets the attributes of directories, the deepest first: to write into one changes
// its time. One that may not be written to could not be moved, so that this comes later.
func (x *extractor) finish() error {
	for _, name := range x.deepestFirst() {
		a := x.dirs[name]
		if err := x.root.Chtimes(name, a.time, a.time); err != nil {
			return x.cannotWrite(name, err)
		}
		if err := x.root.Chmod(name, a.mode|0o700); err != nil {
			return x.cannotWrite(name, err)
		}
	}
	return nil
}

// locked are the directories whose modes can only be set in their final place.
func (x *extractor) locked() (names []string) {
	for _, name := range x.deepestFirst() {
		if x.dirs[name].mode&0o700 != 0o700 {
			names = append(names, name)
		}
	}
	return names
}

func (x *extractor) deepestFirst() []string {
	names := make([]string, 0, len(x.dirs))
	for name := range x.dirs {
		names = append(names, name)
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names
}

// streamFault is an error of a stream that is not what a tar writes.
func streamFault(err error) error {
	if errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, tar.ErrFieldTooLong) {
		return fault.New(fault.Failed, "the tar of the other end has sent something else than an archive: %w", err)
	}
	return err
}

const (
	copyBuffer = 128 << 10
	// hole is how many zeros at least are not written: a block of most file systems.
	hole = 4 << 10
)

// onlyReader hides that a reader can write by itself.
type onlyReader struct{ io.Reader }

// sparseWriter writes a file, and makes holes of zeros.
type sparseWriter struct {
	file  *os.File
	meter *Meter
	size  int64
	wrote int64 // the end of what was written
}

// Write implements io.Writer. Blocks of zeros are left out.
func (w *sparseWriter) Write(p []byte) (int, error) {
	for done := 0; done < len(p); {
		n := min(hole-int(w.size%hole), len(p)-done)
		block, data := p[done:done+n], false
		for !isZero(block) { // as many blocks as there is data in
			data = true
			if done+n == len(p) {
				break
			}
			next := min(hole, len(p)-done-n)
			if isZero(p[done+n : done+n+next]) {
				break
			}
			n += next
			block = p[done+n-next : done+n]
		}
		if data {
			if _, err := w.file.WriteAt(p[done:done+n], w.size); err != nil {
				return done, err
			}
			w.wrote = w.size + int64(n)
		}
		w.size += int64(n)
		done += n
		w.meter.Bytes.Add(int64(n))
	}
	return len(p), nil
}

// finish gives the file its size if it ends in a hole.
func (w *sparseWriter) finish() error {
	if w.wrote == w.size {
		return nil
	}
	return w.file.Truncate(w.size)
}

func isZero(p []byte) bool {
	var zeros [hole]byte
	return bytes.Equal(p, zeros[:len(p)])
}
