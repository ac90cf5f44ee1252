//go:build linux

package driver

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/mounts"
)

// madeUp is what the kubelet calls inline volumes: a hash of the pod and the volume.
func madeUp(id string) bool { return regexp.MustCompile(`^csi-[0-9a-f]{64}$`).MatchString(id) }

// checkDirectory refuses a working directory that is somebody else's: all that is in it would
// be taken for volumes whose records are lost, and removed after their afterlife. One is the
// driver's if it has the records, or nothing but what looks like volumes.
func checkDirectory(dir string) error {
	if isDatabase(filepath.Join(dir, fileQueue)) {
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
		if e.Name()[0] == '.' || slices.Contains([]string{
			"lost+found", fileQueue, fileQueue + ".unreadable",
			volume.Socket,
		}, e.Name()) {
			continue
		}
		volumes, err := os.ReadDir(filepath.Join(dir, e.Name()))
		for _, v := range volumes {
			if !madeUp(v.Name()) {
				err = errors.New("not a volume")
			}
		}
		if err != nil {
			return fault.New(fault.InvalidArgument, "%s is not a directory of scratch volumes: it has %s", dir,
				fault.Line(e.Name())).
				WithHint("choose an empty directory with --directory: what the driver finds there and does not know is removed after its afterlife")
		}
	}
	return nil
}

// isDatabase says whether a file begins as those of bbolt do: a file of that name may be
// another program's.
func isDatabase(name string) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	const pageHeader, magic = 16, 0xED0CDAED
	var begin [pageHeader + 4]byte
	_, err = io.ReadFull(file, begin[:])
	return err == nil && binary.NativeEndian.Uint32(begin[pageHeader:]) == magic
}

// table is the mount table. Volumes are known in it by the path of the working directory,
// which has to lead there still: otherwise they would seem not to be mounted.
func (d *Driver) table() (mounts.Table, error) {
	table, err := mounts.Read()
	if err == nil {
		err = d.dir.Check()
	}
	return table, err
}
