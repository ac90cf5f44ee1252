package blueprint

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/internal/fault"
)

// replacement is a text that is to be in a file.
type replacement struct {
	from, path   string
	before, text []byte // before is what was in the file that it comes from

	part string      // a file beside it that has the text
	mode fs.FileMode // of the file that it comes from
}

// write writes all of the files, or none. Only those in place may be there already.
func write(all []replacement, inPlace bool) (err error) {
	if !inPlace {
		if err := absent(all); err != nil {
			return err
		}
	}
	defer func() {
		for _, r := range all {
			if r.part != "" {
				_ = os.Remove(r.part)
			}
		}
	}()
	for i := range all {
		if err := all[i].prepare(inPlace); err != nil {
			return fault.New(fault.Failed, "nothing is written: %w", err)
		}
	}
	var undo []func() error
	for _, r := range all {
		back, err := r.put(inPlace)
		if err != nil {
			return undone(err, undo)
		}
		undo = append(undo, back)
	}
	return nil
}

// undone is the error of a file that could not be written, when the files before it are as they were, as far as that
// was possible.
func undone(err error, undo []func() error) error {
	var failed error
	for _, f := range undo {
		failed = errors.Join(failed, f())
	}
	if failed == nil {
		return fault.New(fault.Failed, "nothing is written: %w", err)
	}
	return fault.New(fault.Failed, "some files are written, and could not be given back what was in them: %w",
		errors.Join(err, failed)).WithHint("look at these files before you convert them again")
}

// absent returns an error if one of the files is there.
func absent(all []replacement) error {
	var problems []string
	for _, r := range all {
		if _, err := os.Lstat(r.path); err == nil {
			problems = append(problems, r.path+": exists already")
		}
	}
	if len(problems) == 0 {
		return nil
	}
	err := fault.New(fault.InvalidArgument, "nothing is written: files are there already")
	err.Problems = problems
	return err.WithHint("name another directory with --to; --in-place writes over the files that are read")
}

// prepare writes the text beside the file.
func (r *replacement) prepare(inPlace bool) error {
	info, err := os.Stat(r.from)
	if err != nil {
		return err
	}
	r.mode = info.Mode().Perm()
	if inPlace { // a link stays one
		if r.path, err = filepath.EvalSymlinks(r.path); err != nil {
			return err
		}
	} else if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
		return err
	}
	r.part, err = beside(r.path, r.text, r.mode)
	return err
}

// beside writes a text to a new file in the directory of another.
func beside(path string, text []byte, mode fs.FileMode) (part string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	return f.Name(), errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}

// put gives the file its text, and returns what undoes that.
func (r *replacement) put(inPlace bool) (undo func() error, err error) {
	if !inPlace {
		return func() error { return os.Remove(r.path) }, r.create()
	}
	now, err := os.ReadFile(r.path)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(now, r.before) {
		return nil, fmt.Errorf("%s: changed meanwhile", r.path)
	}
	if err := os.Rename(r.part, r.path); err != nil {
		return nil, err
	}
	return r.restore, nil
}

// create makes the file, unless another program has made it meanwhile.
func (r *replacement) create() error {
	err := os.Link(r.part, r.path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// Not every file system has links.
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, r.mode)
	if err != nil {
		return err
	}
	_, err = f.Write(r.text)
	if err = errors.Join(err, f.Chmod(r.mode), f.Sync(), f.Close()); err != nil {
		_ = os.Remove(r.path)
	}
	return err
}

// restore gives the file what was in it.
func (r *replacement) restore() error {
	part, err := beside(r.path, r.before, r.mode)
	if err == nil {
		err = os.Rename(part, r.path)
	}
	if err != nil {
		if part != "" {
			_ = os.Remove(part)
		}
		return fmt.Errorf("%s is converted already: %w", r.path, err)
	}
	return nil
}
