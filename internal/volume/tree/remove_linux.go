package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// atOnce is how many names of a directory are in memory.
	atOnce = 512
	// deepest is how many directories are open, one in the other.
	deepest = 64
)

// going begins the name of a directory that is being removed.
const going = ".going-"

// Remove removes a volume with all that is in it. It is renamed first, so that it is there
// as a whole or not at all, whatever ends the process, and after a power cut as well. It
// goes on behind what it cannot remove, and returns the first reason.
func (d *Dir) Remove(ctx context.Context, pod, id string) error {
	return d.remove(ctx, pod, id, true)
}

// RemoveGoing removes what Remove has left of a volume, if it has.
func (d *Dir) RemoveGoing(ctx context.Context, pod, id string) error {
	return d.remove(ctx, pod, id, false)
}

func (d *Dir) remove(ctx context.Context, pod, id string, whole bool) error {
	in, err := open(d.fd, pod)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	if err := removeGoing(ctx, in, id); err != nil {
		return err
	}
	if whole {
		switch err := rename(in, id, going+id); {
		case err == nil:
			if err := removeGoing(ctx, in, id); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	d.leave(pod)
	return nil
}

// rename renames what is in a directory, for good.
func rename(in *os.File, from, to string) error {
	err := unix.Renameat2(int(in.Fd()), from, int(in.Fd()), to, unix.RENAME_NOREPLACE)
	if err == nil {
		err = in.Sync()
	}
	if err != nil {
		return &fs.PathError{Op: "remove", Path: from, Err: err}
	}
	return nil
}

// removeGoing removes what is left of a volume in the directory of its pod, if anything is.
func removeGoing(ctx context.Context, in *os.File, id string) error {
	top, err := open(in, going+id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer top.Close()
	r := remover{top: top}
	if err := r.empty(ctx, top, 1); err != nil {
		return err
	}
	if err := unix.Unlinkat(int(in.Fd()), going+id, unix.AT_REMOVEDIR); err != nil {
		return &fs.PathError{Op: "remove", Path: id, Err: err}
	}
	return nil
}

// RemoveEmpty removes the directory of a volume if nothing is in it, and says whether it is gone.
func (d *Dir) RemoveEmpty(pod, id string) (gone bool, err error) {
	in, err := open(d.fd, pod)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer in.Close()
	switch err := unix.Unlinkat(int(in.Fd()), id, unix.AT_REMOVEDIR); {
	case err == nil, errors.Is(err, unix.ENOENT):
		d.leave(pod)
		return true, nil
	case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST):
		return false, nil
	default:
		return false, err
	}
}

// remover empties a volume.
type remover struct {
	top   *os.File
	moved int
}

// empty removes what is in a directory, again and again until nothing is left of it or nothing of it can be removed.
func (r *remover) empty(ctx context.Context, dir *os.File, depth int) error {
	for {
		removed, err := r.pass(ctx, dir, depth)
		if err != nil && (removed == 0 || ctx.Err() != nil) {
			return err
		}
		if removed == 0 {
			return nil
		}
	}
}

// pass goes through a directory once.
func (r *remover) pass(ctx context.Context, dir *os.File, depth int) (removed int, first error) {
	if _, err := dir.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	for {
		names, err := dir.Readdirnames(atOnce)
		for _, name := range names {
			if ctx.Err() != nil {
				return removed, ctx.Err()
			}
			switch err := r.remove(ctx, dir, name, depth); {
			case err == nil:
				removed++
			case errors.Is(err, fs.ErrNotExist): // gone; counted, a damaged directory would have no end
			case first == nil:
				first = fmt.Errorf("cannot remove %q: %w", name, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return removed, first
		}
		if err != nil {
			return removed, err
		}
	}
}

// remove removes one name of a directory. A link goes as what it is.
func (r *remover) remove(ctx context.Context, dir *os.File, name string, depth int) error {
	at := int(dir.Fd())
	if err := unix.Unlinkat(at, name, 0); !errors.Is(err, unix.EISDIR) {
		return err
	}
	if depth >= deepest {
		return r.hoist(at, name)
	}
	in, err := open(dir, name)
	if err != nil {
		return err
	}
	err = r.empty(ctx, in, depth+1)
	in.Close()
	if err != nil {
		return err
	}
	return unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
}

// hoist moves a directory that is deep down to the top, where the next pass finds it: a
// pod can make more directories in one another than can be open.
func (r *remover) hoist(at int, name string) error {
	for {
		r.moved++
		err := unix.Renameat2(at, name, int(r.top.Fd()), fmt.Sprintf(".deep-%d", r.moved), unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
}
