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
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// View is a volume for somebody who chooses paths in it. Links are followed as long as they stay in it: the kernel
// looks up each path, and refuses what would lead out, whatever the volume has become meanwhile.
type View struct{ dir *os.File }

var _ volume.Files = (*View)(nil)

// View opens a volume.
func (d *Dir) View(pod, id string) (*View, error) {
	dir, err := d.volume(pod, id)
	if err != nil {
		return nil, err
	}
	return &View{dir}, nil
}

// Close lets the volume go.
func (v *View) Close() { v.dir.Close() }

// mostEntries is how many entries of a directory are listed.
const mostEntries = 10_000

// List lists a directory, by name.
func (v *View) List(ctx context.Context, name string) (all volume.Listing, err error) {
	dir, err := v.directory(name)
	if err != nil {
		return all, err
	}
	defer dir.Close()
	for len(all.Entries) < mostEntries {
		names, err := dir.Readdirnames(min(atOnce, mostEntries-len(all.Entries)))
		for _, name := range names {
			if ctx.Err() != nil {
				return all, ctx.Err()
			}
			entry, err := entryOf(dir, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return all, err
			}
			all.Entries = append(all.Entries, entry)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return all, err
		}
	}
	if ctx.Err() != nil { // what is removed meanwhile looks like one that ends
		return all, ctx.Err()
	}
	if len(all.Entries) == mostEntries {
		more, _ := dir.Readdirnames(1)
		all.More = len(more) > 0
	}
	slices.SortFunc(all.Entries, func(a, b volume.Entry) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// entryOf looks at a name without opening it.
func entryOf(dir *os.File, name string) (volume.Entry, error) {
	var stat unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return volume.Entry{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	e := volume.Entry{
		Name: name, Kind: kindOf(stat.Mode), Mode: os.FileMode(stat.Mode & 0o777),
		Modified: time.Unix(stat.Mtim.Unix()).UTC(),
	}
	switch e.Kind {
	case volume.KindFile:
		e.Size = stat.Size
	case volume.KindLink:
		e.Target, _ = readlink(dir, name) // it was there
	}
	return e, nil
}

func kindOf(mode uint32) volume.Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return volume.KindFile
	case unix.S_IFDIR:
		return volume.KindDirectory
	case unix.S_IFLNK:
		return volume.KindLink
	case unix.S_IFIFO:
		return volume.KindPipe
	case unix.S_IFSOCK:
		return volume.KindSocket
	}
	return volume.KindDevice
}

// Open opens a file.
func (v *View) Open(name string) (*os.File, error) {
	at, kind, err := v.find(name)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	if kind != volume.KindFile {
		return nil, notFile(name, kind)
	}
	return reopen(at)
}

// reopen opens for reading what was found: that and nothing that has its name now.
func reopen(at *os.File) (*os.File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open("/proc/self/fd/"+strconv.Itoa(int(at.Fd())), unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: at.Name(), Err: err}
	}
	return os.NewFile(uintptr(fd), at.Name()), nil
}

// Archive writes a directory, or a file, as a tar stream.
func (v *View) Archive(ctx context.Context, name string, to io.Writer) error {
	at, kind, err := v.find(name)
	if err != nil {
		return err
	}
	defer at.Close()
	if kind == volume.KindFile {
		return archiveFile(ctx, at, path.Base(name), to)
	}
	if kind != volume.KindDirectory {
		return notFile(name, kind)
	}
	dir, err := reopen(at)
	if err != nil {
		return err
	}
	defer dir.Close()
	return archive(ctx, dir, to)
}

func archiveFile(ctx context.Context, at *os.File, name string, to io.Writer) error {
	file, err := reopen(at)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	out := tar.NewWriter(to)
	err = out.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime(),
		Format: tar.FormatPAX,
	})
	if err != nil {
		return err
	}
	n, err := io.Copy(struct{ io.Writer }{out}, io.LimitReader(reader{ctx, file}, info.Size()))
	if err == nil && n < info.Size() {
		err = fmt.Errorf("%q has become shorter while it was read", name)
	}
	if err != nil {
		return err
	}
	return out.Close()
}

// directory opens a directory for reading. The kernel opens nothing else then.
func (v *View) directory(name string) (*os.File, error) {
	return v.lookUp(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
}

// find says what there is at a path, and opens it for being looked at alone: that does nothing to a device or a pipe.
func (v *View) find(name string) (at *os.File, kind volume.Kind, err error) {
	at, err = v.lookUp(name, unix.O_PATH)
	if err != nil {
		return nil, "", err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(int(at.Fd()), &stat); err != nil {
		at.Close()
		return nil, "", &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return at, kindOf(stat.Mode), nil
}

// lookUp opens a path of the volume. A path that begins with a slash begins at the volume.
func (v *View) lookUp(name string, flags uint64) (*os.File, error) {
	within := strings.TrimLeft(name, "/")
	if within == "" {
		within = "."
	}
	if strings.ContainsRune(within, 0) {
		return nil, fault.New(fault.InvalidArgument, "path %q has a null character", name)
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat2(int(v.dir.Fd()), within, &unix.OpenHow{
			Flags:   unix.O_CLOEXEC | flags,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
		})
	})
	if err != nil {
		return nil, notFound(name, err)
	}
	return os.NewFile(uintptr(fd), within), nil
}

// notFound is the error of a path that cannot be looked up.
func notFound(name string, err error) error {
	switch {
	case errors.Is(err, unix.EXDEV):
		return fault.New(fault.InvalidArgument, "%q leads out of the volume", name).
			WithHint("give a path in the volume; a link to an absolute path leads out of it, too")
	case errors.Is(err, unix.ELOOP):
		return fault.New(fault.InvalidArgument, "%q leads through too many links", name)
	case errors.Is(err, unix.ENAMETOOLONG):
		return fault.New(fault.InvalidArgument, "path %q is too long", fault.Shorten(name, 100))
	case errors.Is(err, unix.ENOENT):
		return fault.New(fault.NotFound, "%q is not in the volume", name).
			WithHint("berth volume list VOLUME[:PATH] lists what is there")
	case errors.Is(err, unix.ENOTDIR):
		return fault.New(fault.InvalidArgument, "%q is not a directory, or leads through a file", name)
	}
	return &fs.PathError{Op: "open", Path: name, Err: err}
}

// notFile is the error of what has no content.
func notFile(name string, kind volume.Kind) error {
	err := fault.New(fault.InvalidArgument, "%q is a %s, and no file", name, kind)
	if kind == volume.KindDirectory {
		return err.WithHint("berth volume list VOLUME:PATH lists it, and berth volume cp copies it")
	}
	return err.WithHint("what it would give was the pod's, and is gone with it")
}
