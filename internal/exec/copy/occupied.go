package copy

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
)

//go:embed scripts/occupied.sh
var occupiedScript string

// Vacant returns an error if something is at a path at the other end: anything but an empty
// directory.
func Vacant(ctx context.Context, run exec.Runner, path string) error {
	e := &ending{stderr: exec.Beginning{Max: maxComplaints}}
	e.status, e.err = run(ctx, script(occupiedScript, path), exec.Session{Stdout: io.Discard, Stderr: &e.stderr})
	if e.err == nil && e.status == statusConflict {
		return occupied(path)
	}
	_, err := e.failure(path)
	return err
}

// VacantHere is Vacant on this machine.
func VacantHere(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return cannot("read", path, err)
	}
	defer dir.Close()
	switch names, err := dir.Readdirnames(1); {
	case len(names) > 0:
		return occupied(path)
	case errors.Is(err, io.EOF):
		return nil
	}
	return notDirectory(path)
}

func occupied(path string) error {
	return fault.New(fault.AlreadyExists, "%s is not empty", path).
		WithHint("choose another directory, or replace the files that are there with --overwrite")
}
