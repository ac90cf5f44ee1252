package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/test/cluster/internal/host"
)

// Down removes the cluster and every trace of it, in whatever state it is. It
// is not an error if there is no cluster.
func (i *Instance) Down() error {
	if err := host.CheckRoot(os.Geteuid()); err != nil {
		return err
	}
	unlock, err := i.lock()
	if err != nil {
		return err
	}
	defer func() {
		unlock()
		_ = os.Remove(Base) // if this was the last one there
	}()
	if err := i.kill(); err != nil {
		return err
	}
	if _, err := os.Stat(i.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := i.owned(); err != nil {
		return fmt.Errorf("%w; nothing was removed", err)
	}
	if err := i.clean(); err != nil {
		return err
	}
	return i.remove()
}

// remove takes the state directory away, the marker last: what cannot be
// removed stays recognizable for the next attempt.
func (i *Instance) remove() error {
	entries, err := os.ReadDir(i.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == marker {
			continue
		}
		if err := os.RemoveAll(filepath.Join(i.dir, e.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(i.dir)
}
