package tree

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// Archive writes what is in a volume as a tar stream: directories, files, symbolic and hard links, with owners, modes
// and times. Sockets, pipes and devices are left out, and so is what is mounted in it.
func (d *Dir) Archive(ctx context.Context, pod, id string, to io.Writer) error {
	dir, err := d.volume(pod, id)
	if err != nil {
		return err
	}
	defer dir.Close()
	return archive(ctx, dir, to)
}

// archive writes what is in a directory.
func archive(ctx context.Context, dir *os.File, to io.Writer) error {
	p := packer{
		ctx: ctx, tar: tar.NewWriter(to), first: map[uint64]string{}, room: mostNames,
		buffer: make([]byte, 128<<10),
	}
	if err := walk(ctx, dir, "", p.add, 1); err != nil {
		return err
	}
	if ctx.Err() != nil { // what is removed meanwhile looks like one that ends
		return ctx.Err()
	}
	return p.tar.Close()
}

// mostNames is how much of the names of files with several is in memory, in bytes.
const mostNames = 8 << 20

type packer struct {
	ctx    context.Context //nolint:containedctx // of one archive
	tar    *tar.Writer
	first  map[uint64]string // the name under which a file with several was met
	room   int               // for more of them, in bytes; a file beyond it is written once for each name
	buffer []byte
}

func (p *packer) add(in *os.File, name string, stat unix.Stat_t) error {
	h := &tar.Header{
		Name: name, Mode: int64(stat.Mode & 0o7777), Uid: int(stat.Uid), Gid: int(stat.Gid),
		ModTime: time.Unix(stat.Mtim.Unix()), Format: tar.FormatPAX,
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
		return p.tar.WriteHeader(h)
	case unix.S_IFLNK:
		target, err := readlink(in, path.Base(name))
		if err != nil {
			return err
		}
		h.Typeflag, h.Linkname = tar.TypeSymlink, target
		return p.tar.WriteHeader(h)
	case unix.S_IFREG:
		if first, met := p.first[stat.Ino]; met && stat.Nlink > 1 {
			h.Typeflag, h.Linkname = tar.TypeLink, first
			return p.tar.WriteHeader(h)
		}
		if stat.Nlink > 1 && len(name) <= p.room {
			p.room -= len(name)
			p.first[stat.Ino] = name
		}
		h.Typeflag = tar.TypeReg
		return p.file(in, h)
	}
	return nil
}

// file writes a file. It is opened before its header is written, and has the size that it has then.
func (p *packer) file(in *os.File, h *tar.Header) error {
	file, err := openAs(in, path.Base(h.Name), 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	h.Size = info.Size()
	if err := p.tar.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{p.tar}, io.LimitReader(reader{p.ctx, file}, h.Size), p.buffer)
	if err == nil && n < h.Size {
		err = fmt.Errorf("%q has become shorter while it was read", h.Name)
	}
	return err
}

// reader ends with a context.
type reader struct {
	ctx  context.Context //nolint:containedctx // of one file
	file io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.file.Read(b)
}

func readlink(in *os.File, name string) (string, error) {
	buffer := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(in.Fd()), name, buffer)
	if err != nil {
		return "", err
	}
	return string(buffer[:n]), nil
}

// visitor is called with each name of a volume: the directory that it is in, the path
// below the volume, and what the name is.
type visitor func(in *os.File, path string, stat unix.Stat_t) error

// errDeep is the error of a volume that is not read to its end.
var errDeep = errors.New("its directories are too deep in one another")

// walk visits all that is in a volume, directories before what is in them. What is mounted in it is left out.
func walk(ctx context.Context, dir *os.File, path string, visit visitor, depth int) error {
	if depth > 4*deepest {
		return errDeep
	}
	for {
		names, err := dir.Readdirnames(atOnce)
		for _, name := range names {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := step(ctx, dir, name, path, visit, depth); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func step(ctx context.Context, dir *os.File, name, path string, visit visitor, depth int) error {
	below := name
	if path != "" {
		below = path + "/" + name
	}
	var stat unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &fs.PathError{Op: "stat", Path: below, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return visit(dir, below, stat)
	}
	in, err := open(dir, name)
	if errors.Is(err, errMounted) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	if err := visit(dir, below, stat); err != nil {
		return err
	}
	return walk(ctx, in, below, visit, depth+1)
}

// Size is what a volume takes.
type Size struct{ Bytes, Inodes int64 }

// ErrLarge is the error of a volume with more files than are counted.
var ErrLarge = errors.New("it has too many files to be measured")

// mostLinked is how many files with several names are remembered.
const mostLinked = 100_000

// Measure counts what a volume takes on the disk, as long as it has at most so many files.
func (d *Dir) Measure(ctx context.Context, pod, id string, most int64) (Size, error) {
	dir, err := d.volume(pod, id)
	if err != nil {
		return Size{}, err
	}
	defer dir.Close()
	size, met := Size{Inodes: 1}, map[uint64]bool{}
	err = walk(ctx, dir, "", func(_ *os.File, _ string, stat unix.Stat_t) error {
		if stat.Nlink > 1 && stat.Mode&unix.S_IFMT != unix.S_IFDIR {
			if met[stat.Ino] {
				return nil
			}
			if met[stat.Ino] = true; len(met) > mostLinked {
				return ErrLarge
			}
		}
		size.Bytes += stat.Blocks * 512
		size.Inodes++
		if size.Inodes > most {
			return ErrLarge
		}
		return nil
	}, 1)
	return size, err
}
