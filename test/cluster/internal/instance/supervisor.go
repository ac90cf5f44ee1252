package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/berthdev/berth/test/cluster/internal/process"
)

// endTimeout is how long the kernel may take to end everything.
const endTimeout = 30 * time.Second

// Running says whether there is a supervisor, and with it a cluster.
func (i *Instance) Running() (bool, error) {
	found, err := process.Find(i.supervise())
	return len(found) > 0, err
}

// supervise is the command line of this instance's supervisor.
func (i *Instance) supervise() []string {
	return []string{i.path("bin", "cluster"), "supervise", i.dir}
}

// record remembers the supervisor's process. Its command line finds it while
// it runs, even without this file; but it has none any more while the kernel
// ends everything else, and only then can a new one begin.
func (i *Instance) record(pid int) error {
	start, err := process.StartTime(pid)
	if err != nil {
		return err
	}
	return os.WriteFile(i.path("supervisor"), fmt.Appendln(nil, pid, start), 0o644)
}

// kill ends the supervisor, and the kernel with it everything that it runs.
// There is no orderly end: nothing of the cluster is to remain.
func (i *Instance) kill() error {
	found, err := process.Find(i.supervise())
	if err != nil {
		return err
	}
	for _, pid := range found {
		if err := process.Kill(pid, process.HasArgs(i.supervise()), endTimeout); err != nil {
			return err
		}
	}
	data, err := os.ReadFile(i.path("supervisor"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var pid int
	var start string
	if _, err := fmt.Sscan(string(data), &pid, &start); err != nil {
		return nil //nolint:nilerr // cut short by a crash; the command line has found it
	}
	return process.Kill(pid, process.StartedAt(start), endTimeout)
}

// watch reports the end of a supervisor that another process started.
func (i *Instance) watch() <-chan error {
	gone := make(chan error, 1)
	go func() {
		for {
			running, err := i.Running()
			if err != nil || !running {
				gone <- err
				return
			}
			time.Sleep(poll)
		}
	}()
	return gone
}
