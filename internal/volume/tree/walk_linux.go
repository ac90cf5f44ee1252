package tree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// visitor is called with each name of a volume: the directory that it is in, the path
// below the volume, and what the name is.
type visitor func(in *os.File, path string, stat unix.Stat_t) error

// errDeep is the error of a volume that is not read to its end.
var errDeep = errors.New("its directories are too deep in one another")

// walk visits all that is in a volume, directories before what is in them. What is
// mounted in it is left out.
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
