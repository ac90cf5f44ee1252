package kustomize

import (
	"os/exec"
	"syscall"
)

// tie has the system end a process with the thread that starts it, so that it never outlives this one, however that
// ends; and keeps the signals of a terminal from it, which are for this one. The caller has to stay on its thread.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
