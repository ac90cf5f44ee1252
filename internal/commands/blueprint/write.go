package blueprint

import (
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
			for _, f := range undo {
				err = errors.Join(err, f())
			}
			return fault.New(fault.Failed, "nothing is written: %w", err)
		}
		undo = append(undo, back)
	}
	return nil
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
	f, err := os.CreateTemp(filepath.Dir(r.path), "."+filepath.Base(r.path)+".*")
	if err != nil {
		return err
	}
	r.part = f.Name()
	_, err = f.Write(r.text)
	return errors.Join(err, f.Chmod(r.mode), f.Sync(), f.Close())
}

// put gives the file its text, and returns what undoes that.
func (r *replacement) put(inPlace bool) (undo func() error, err error) {
	if !inPlace {
		// Another program may have made the file by now: a link fails then.
		if err := os.Link(r.part, r.path); err != nil {
			return nil, err
		}
		return func() error { return os.Remove(r.path) }, nil
	}
	before, err := os.ReadFile(r.path)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(r.part, r.path); err != nil {
		return nil, err
	}
	return func() error {
		if err := os.WriteFile(r.path, before, r.mode); err != nil {
			return fmt.Errorf("%s is converted already: %w", r.path, err)
		}
		return nil
	}, nil
}
