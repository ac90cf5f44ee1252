package tree

import (
	"fmt"
	"io"
	"os"

	"github.com/berthdev/berth/internal/volume/queue"
)

// Found is a directory of a volume.
type Found struct{ Pod, ID string }

// List are all directories of volumes. What is hidden, is not a directory, or belongs to
// the file system is not one; a directory of a pod that is empty is removed.
func (d *Dir) List() ([]Found, error) {
	pods, err := subdirectories(d.fd)
	if err != nil {
		return nil, fmt.Errorf("cannot list the working directory: %w", err)
	}
	var all []Found
	for _, pod := range pods {
		if pod == "lost+found" || !queue.IsElement(pod) {
			continue
		}
		in, err := open(d.fd, pod)
		if err != nil {
			continue // it has just been removed, or something is mounted there
		}
		ids, err := subdirectories(in)
		in.Close()
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if queue.IsElement(id) {
				all = append(all, Found{pod, id})
			}
		}
		if len(ids) == 0 {
			d.leave(pod)
		}
	}
	return all, nil
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
