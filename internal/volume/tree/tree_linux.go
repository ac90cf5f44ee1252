// Package tree works on the directories of volumes by descriptors of directories alone: whatever a pod has left there,
// nothing leads out of the working directory, neither a symbolic link nor a mount.
package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/queue"
)

// Dir is the working directory: in it are a directory for each pod, and in that one for each of its volumes.
type Dir struct {
	path string
	fd   *os.File
	// mu keeps the directory of a pod from being removed while a volume is made in it.
	mu sync.Mutex
}

// The modes of what is made. Only the driver gets to the directories of pods, so that
// the user that a pod runs as may write to its volumes, as in an emptyDir.
const (
	modePrivate = 0o700
	modeVolume  = 0o777
)

// Open makes and opens the working directory.
func Open(path string) (*Dir, error) {
	if err := os.MkdirAll(path, modePrivate); err != nil {
		return nil, fault.New(fault.Unavailable, "cannot make the working directory: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot open the working directory: %w", err)
	}
	if err = file.Chmod(modePrivate); err == nil {
		err = supported(file)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Dir{path: path, fd: file}, nil
}

// supported finds a kernel that cannot open what lies within a directory.
func supported(dir *os.File) error {
	self, err := open(dir, ".")
	if errors.Is(err, unix.ENOSYS) {
		return fault.New(fault.Unavailable, "the kernel has no openat2").
			WithHint("scratch volumes take Linux 5.6 or newer")
	}
	if err != nil {
		return fault.New(fault.Unavailable, "cannot open the working directory: %w", err)
	}
	self.Close()
	return nil
}

// Check finds that the path of the working directory leads to another one now, such as
// that of a disk that was mounted there later.
func (d *Dir) Check() error {
	opened, err := d.fd.Stat()
	if err != nil {
		return fmt.Errorf("cannot read the working directory: %w", err)
	}
	now, err := os.Stat(d.path)
	if err != nil {
		return fmt.Errorf("cannot find the working directory: %w", err)
	}
	if !os.SameFile(opened, now) {
		return fmt.Errorf("%s is not the directory that the driver has opened: something was mounted over it, "+
			"or it was replaced", d.path)
	}
	return nil
}

// Close lets the directory go.
func (d *Dir) Close() { d.fd.Close() }

// open opens a directory in another one. A symbolic link is not followed, and what is mounted there is not entered.
func open(in *os.File, name string) (*os.File, error) { return openAs(in, name, unix.O_DIRECTORY) }

func openAs(in *os.File, name string, flags uint64) (*os.File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat2(int(in.Fd()), name, &unix.OpenHow{
			Flags:   unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | flags,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV,
		})
	})
	switch {
	case errors.Is(err, unix.EXDEV):
		return nil, &fs.PathError{Op: "open", Path: name, Err: errMounted}
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

var errMounted = errors.New("something is mounted there")

// retry repeats a system call that was interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
	}
}

// Make makes the directory of a volume; one that is there is used again, as it is.
func (d *Dir) Make(pod, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := mkdir(d.fd, pod, modePrivate); err != nil {
		return err
	}
	in, err := open(d.fd, pod)
	if err != nil {
		return err
	}
	defer in.Close()
	made, err := mkdir(in, id, modeVolume)
	if err != nil {
		return err
	}
	dir, err := open(in, id)
	if err != nil {
		return err
	}
	defer dir.Close()
	if made {
		err = dir.Chmod(modeVolume) // what the umask has taken away
	}
	return err
}

// mkdir makes a directory, and says whether it was not there.
func mkdir(in *os.File, name string, mode uint32) (made bool, err error) {
	switch err := unix.Mkdirat(int(in.Fd()), name, mode); {
	case errors.Is(err, unix.EEXIST):
		return false, nil
	case err != nil:
		return false, &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return true, nil
}

// volume opens the directory of a volume.
func (d *Dir) volume(pod, id string) (*os.File, error) {
	in, err := open(d.fd, pod)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return open(in, id)
}

// Has says whether the directory of a volume is there.
func (d *Dir) Has(pod, id string) (bool, error) {
	dir, err := d.volume(pod, id)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	dir.Close()
	return true, nil
}

// leave removes the directory of a pod if nothing is in it any more.
func (d *Dir) leave(pod string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = unix.Unlinkat(int(d.fd.Fd()), pod, unix.AT_REMOVEDIR)
}

// Disk is what the disk of the working directory has.
func (d *Dir) Disk() (queue.Disk, error) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(d.fd.Fd()), &s); err != nil {
		return queue.Disk{}, fmt.Errorf("cannot read what the disk of %s has: %w", d.path, err)
	}
	size := s.Bsize
	if s.Frsize > 0 {
		size = s.Frsize
	}
	return queue.Disk{
		Free: int64(s.Bfree) * size, Total: int64(s.Blocks) * size, //nolint:gosec // a disk has fewer
		Used: int64(s.Blocks-s.Bfree) * size, Available: int64(s.Bavail) * size, //nolint:gosec // a disk has fewer
		FreeInodes: int64(s.Ffree), Inodes: int64(s.Files), //nolint:gosec // a disk has fewer
	}, nil
}

// Found is a directory of a volume.
type Found struct{ Pod, ID string }

// List are all directories of volumes. What is hidden, is not a directory, or belongs to the file system is not one; a
// directory of a pod that is empty is removed. One that cannot be read is left out, and is the error beside the others.
func (d *Dir) List() ([]Found, error) {
	return d.list(func(name string) (id string, is bool) { return name, volume.IsID(name) })
}

// Going are those of which something is left that is being removed.
func (d *Dir) Going() ([]Found, error) {
	return d.list(func(name string) (id string, is bool) { return strings.CutPrefix(name, going) })
}

func (d *Dir) list(idOf func(name string) (string, bool)) ([]Found, error) {
	self, err := open(d.fd, ".") // several may list at once, each from the beginning
	if err != nil {
		return nil, fmt.Errorf("cannot list the working directory: %w", err)
	}
	defer self.Close()
	pods, err := subdirectories(self)
	if err != nil {
		return nil, fmt.Errorf("cannot list the working directory: %w", err)
	}
	var all []Found
	var unread error
	for _, pod := range pods {
		if pod == "lost+found" || !volume.IsID(pod) {
			continue
		}
		in, err := open(d.fd, pod)
		if err != nil {
			continue // it has just been removed, or something is mounted there
		}
		names, err := subdirectories(in)
		in.Close()
		if err != nil {
			unread = errors.Join(unread, fmt.Errorf("cannot list %s: %w", pod, err))
			continue
		}
		for _, name := range names {
			if id, is := idOf(name); is {
				all = append(all, Found{pod, id})
			}
		}
		if len(names) == 0 {
			d.leave(pod)
		}
	}
	return all, unread
}

// subdirectories are the names of directories in one: what is mounted there, a link and a
// file cannot be opened as such.
func subdirectories(dir *os.File) (found []string, err error) {
	if _, err := dir.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if in, err := open(dir, name); err == nil {
			in.Close()
			found = append(found, name)
		}
	}
	return found, err
}
