package ssh

import (
	"context"
	"errors"
	"os"
	"os/exec"
)

// become runs a program, and returns its exit status. Ctrl-C reaches it by itself.
func become(ctx context.Context, program string, arguments []string) (status int, err error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, arguments...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), nil
	}
	return 0, err
}
