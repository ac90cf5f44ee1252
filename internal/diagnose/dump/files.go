package dump

import (
	"errors"
	"io/fs"
	"os"
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
