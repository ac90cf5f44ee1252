package instance

import (
	"fmt"
	"net"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/test/cluster/internal/host"
	"github.com/berthdev/berth/test/cluster/internal/supervisor"
)

// ListenerFile is the file descriptor that the supervisor finds its listening
// socket at, and in turn the relay.
const ListenerFile = 3

// namespaces are what the supervisor gets of its own.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// launch starts the supervisor, which outlives this process. The channel
// reports its end, should that come first.
func (i *Instance) launch(listener *net.TCPListener) (<-chan error, error) {
	socket, err := listener.File()
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	log, err := os.Create(supervisor.LogFile(i.dir, "supervisor"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := i.supervise()
	cmd := &exec.Cmd{
		Path:       args[0],
		Args:       args,
		Dir:        "/",
		Env:        []string{"PATH=" + host.Path, "HOME=/root"}, // no proxies, no kubeconfig
		Stdout:     log,
		Stderr:     log,
		ExtraFiles: []*os.File{socket},
		SysProcAttr: &unix.SysProcAttr{
			Cloneflags: namespaces,
			Setsid:     true,
		},
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the cluster in namespaces of its own (a container needs to be "+
			"privileged for that): %w", err)
	}
	gone := make(chan error, 1)
	err = i.record(cmd.Process.Pid)
	go func() { gone <- cmd.Wait() }()
	return gone, err
}
