package tree

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/berthdev/berth/internal/volume"
)

// Found is a directory of a volume.
type Found struct{ Pod, ID string }

// List are all directories of volumes. What is hidden, is not a directory, or belongs to
// the file system is not one; a directory of a pod that is empty is removed. One that cannot
// be read is left out, and is the error beside the others.
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
