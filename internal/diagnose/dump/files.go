package dump

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Open reads a dump from a file, or from all files of a directory.
func Open(path string) (Contents, error) {
	r := &reader{limits: defaults()}
	if err := r.open(path); err != nil {
		return Contents{}, fault.New(fault.InvalidArgument, "cannot read the dump: %w", err)
	}
	return r.contents(path)
}

func (r *reader) open(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return r.directory(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r.stream(source{file: path, in: file})
	return nil
}

// directory reads all files, but those whose names begin with a dot. Links are not
// followed: what an archive was unpacked to may lead anywhere.
func (r *reader) directory(path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	before := r.used.files
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		file := filepath.Join(path, filepath.FromSlash(name))
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			r.problem(file, 0, "%v", reason(err))
			return nil
		case name == ".":
			return nil
		case strings.HasPrefix(entry.Name(), ".") && entry.IsDir():
			return fs.SkipDir
		case strings.HasPrefix(entry.Name(), "."):
			return nil
		case !r.counted(file):
			return fs.SkipAll
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			r.problem(file, 0, "not a file: links are not followed")
			return nil
		}
		r.member(root, name, file)
		return r.goOn()
	})
	if err == nil && r.used.files == before {
		r.problem(path, 0, "the directory is empty")
	}
	return err
}

// member reads a file of a directory.
func (r *reader) member(root *os.Root, name, file string) {
	in, err := root.Open(name)
	if err != nil {
		r.problem(file, 0, "%v", reason(err))
		return
	}
	defer in.Close()
	r.stream(source{file: file, in: in, among: true})
}

// goOn ends a walk where a limit is exceeded.
func (r *reader) goOn() error {
	if r.exceeded != nil {
		return fs.SkipAll
	}
	return nil
}

// reason is an error of the file system without the name of the file.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// headSize is how much of a file is looked at to see what it is.
const headSize = 16 << 10

// source is a file that is read.
type source struct {
	file   string
	in     io.Reader
	head   *bufio.Reader // the same, of which the beginning was looked at
	packed int           // in how many archives it is
	among  bool          // others, in a directory or an archive
}

// with is what comes out of a packed file.
func (s source) with(file string, in io.Reader) source {
	return source{file: file, in: in, packed: s.packed + 1, among: s.among || file != s.file}
}

// member is the name of a file in an archive, for messages.
func (s source) member(name string) string { return s.file + ": " + path.Clean(name) }

// stream reads a file, which may be packed.
func (r *reader) stream(s source) {
	s.head = bufio.NewReaderSize(s.in, headSize)
	head, err := s.head.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		r.broken(s.file, err)
		return
	}
	unpack := unpackers()[packing(head)]
	instance, isLog := instanceOf(s.file)
	switch {
	case unpack == nil && isLog:
		r.log(s, instance)
	case unpack == nil:
		r.text(s, head)
	case s.packed > r.limits.packed:
		r.problem(s.file, 0, "packed more than %d times: unpack it first", r.limits.packed)
	default:
		unpack(r, s)
	}
}

// packing recognizes how a file is packed; empty if it is not.
func packing(head []byte) string {
	const tarMagic, tarOffset = "ustar", 257
	if len(head) > tarOffset && bytes.HasPrefix(head[tarOffset:], []byte(tarMagic)) {
		return "tar"
	}
	for magic, name := range map[string]string{
		"\x1f\x8b": "gzip", "PK\x03\x04": "zip", "PK\x05\x06": "zip",
		"BZh": "bzip2", "\xfd7zXZ\x00": "xz", "\x28\xb5\x2f\xfd": "zstd", "7z\xbc\xaf\x27\x1c": "7-Zip",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return name
		}
	}
	return ""
}

// unpackers read what is packed in each way.
func unpackers() map[string]func(*reader, source) {
	unknown := func(r *reader, s source) {
		r.problem(s.file, 0, "compressed in a way that is not known here: unpack it first")
	}
	return map[string]func(*reader, source){
		"gzip": (*reader).gzip, "tar": (*reader).tar, "zip": (*reader).zip,
		"bzip2": unknown, "xz": unknown, "zstd": unknown, "7-Zip": unknown,
	}
}

// gzip reads a compressed file. It keeps its name, as a file alone or a tar file has
// one name for people.
func (r *reader) gzip(s source) {
	in, err := gzip.NewReader(s.head)
	if err != nil {
		r.broken(s.file, err)
		return
	}
	r.stream(s.with(s.file, meter{in, r, s.file}))
}

// tar reads the files of a tar file.
func (r *reader) tar(s source) {
	archive := tar.NewReader(s.head)
	for r.exceeded == nil {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			r.broken(s.file, err)
			return
		}
		name := s.member(header.Name)
		if !r.counted(name) || header.Typeflag != tar.TypeReg || hidden(header.Name) {
			continue
		}
		r.stream(s.with(name, archive))
	}
}

// zip reads the files of a zip file. Its directory is at its end: what comes from a
// pipe is read as a whole first.
func (r *reader) zip(s source) {
	at, length, err := r.seekable(s)
	if err != nil {
		r.broken(s.file, err)
		return
	}
	archive, err := zip.NewReader(at, length)
	if err != nil {
		r.broken(s.file, err)
		return
	}
	for _, entry := range archive.File {
		name := s.member(entry.Name)
		if !r.counted(name) {
			return
		}
		if !entry.Mode().IsRegular() || hidden(entry.Name) {
			continue
		}
		in, err := entry.Open()
		if err != nil {
			r.broken(name, err)
			continue
		}
		r.stream(s.with(name, meter{in, r, name}))
		_ = in.Close() // it was read as far as it can be
	}
}

func (r *reader) seekable(s source) (io.ReaderAt, int64, error) {
	if file, ok := s.in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return file, info.Size(), nil
		}
	}
	raw, err := r.all(s.head)
	return bytes.NewReader(raw), int64(len(raw)), err
}

// hidden is true for what a directory's listing leaves out, as the files that macOS
// puts beside others.
func hidden(name string) bool {
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if strings.HasPrefix(part, ".") && part != "." && part != ".." {
			return true
		}
	}
	return false
}

// errTooLarge is a file over the limit of one.
var errTooLarge = errors.New("too large")

// all reads a file within its limit.
func (r *reader) all(in io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(in, r.limits.file+1))
	if err == nil && int64(len(raw)) > r.limits.file {
		err = errTooLarge
	}
	return raw, err
}

// broken adds why a file could not be read to its end.
func (r *reader) broken(file string, err error) {
	switch {
	case r.exceeded != nil: // which is why
	case errors.Is(err, errTooLarge):
		r.problem(file, 0, "larger than %s", size(r.limits.file))
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.problem(file, 0, "the archive is incomplete: copy it again")
	default:
		r.problem(file, 0, "%v", reason(err))
	}
}
