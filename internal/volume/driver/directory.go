//go:build linux

package driver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/berthdev/berth/internal/fault"
)

// madeUp is what the kubelet calls inline volumes: a hash of the pod and the volume.
func madeUp(id string) bool { return regexp.MustCompile(`^csi-[0-9a-f]{64}$`).MatchString(id) }

// checkDirectory refuses a working directory that is somebody else's: all that is in it would
// be taken for volumes whose records are lost, and removed after their afterlife. One is the
// driver's if it has the records, or nothing but what looks like volumes.
func checkDirectory(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, fileQueue)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.New(fault.Unavailable, "cannot read the working directory: %w", err)
	}
	for _, e := range entries {
		if name := e.Name(); name[0] == '.' || name == "lost+found" || name == fileQueue+".unreadable" {
			continue
		}
		volumes, err := os.ReadDir(filepath.Join(dir, e.Name()))
		for _, v := range volumes {
			if !madeUp(v.Name()) {
				err = errors.New("not a volume")
			}
		}
		if err != nil {
			return fault.New(fault.InvalidArgument, "%s is not a directory of scratch volumes: it has %s", dir, fault.Line(e.Name())).
				WithHint("choose an empty directory with --directory: what the driver finds there and does not know is removed after its afterlife")
		}
	}
	return nil
}
