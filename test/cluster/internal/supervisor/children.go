package supervisor

import (
	"fmt"
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// children starts processes and collects exit statuses. The first process of
// a namespace inherits every orphan in it, so it waits for any process, which
// rules out waiting for a particular one anywhere else.
type children struct {
	// lock is held from before a process starts until it is listed, so that
	// no process is collected before it is known.
	lock   sync.Mutex
	exited map[int]chan unix.WaitStatus
}

func newChildren() *children {
	return &children{exited: map[int]chan unix.WaitStatus{}}
}

func (c *children) start(args []string, files []*os.File) (<-chan unix.WaitStatus, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	p, err := os.StartProcess(args[0], args, &os.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: files,
		Sys: &unix.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, err
	}
	exited := make(chan unix.WaitStatus, 1)
	c.exited[p.Pid] = exited
	return exited, p.Release()
}

// reap collects whatever ends, for ever.
func (c *children) reap() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGCHLD)
	for range signals {
		for c.collect() {
		}
	}
}

func (c *children) collect() bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	var status unix.WaitStatus
	pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
	if err == unix.EINTR {
		return true
	}
	if err != nil || pid <= 0 {
		return false
	}
	if exited, ok := c.exited[pid]; ok {
		exited <- status
		delete(c.exited, pid)
	}
	return true
}

func describe(status unix.WaitStatus) string {
	if status.Signaled() {
		return "killed by signal: " + status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}
