// Package process runs a program and measures it from outside.
package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Usage is what one or several programs took, one after the other.
type Usage struct {
	Started, Exited time.Time
	CPU             time.Duration
	// MaxRSS is in bytes, of the largest. Linux counts what had the memory before
	// the program was loaded, too: never less than this process itself had.
	MaxRSS int64
}

// Env is all that the programs see of the environment: nothing that is set
// outside changes what they do. The home directory is theirs for the whole
// benchmark, so what they cache between runs helps them as it helps people.
func Env(home, kubeconfig string) []string {
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + kubeconfig}
}

// Output runs one command and gives back what it wrote to standard output.
func Output(ctx context.Context, env []string, argv ...string) (string, error) {
	var stdout strings.Builder
	_, err := Run(ctx, env, &stdout, argv)
	return stdout.String(), err
}

// Run runs commands one after the other. What they write to standard output is
// passed on and not kept: it may be much.
func Run(ctx context.Context, env []string, stdout io.Writer, commands ...[]string) (Usage, error) {
	var total Usage
	for i, argv := range commands {
		var stderr strings.Builder
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env, cmd.Stdout, cmd.Stderr = env, stdout, &stderr
		if i == 0 {
			total.Started = time.Now()
		}
		err := cmd.Run()
		total.Exited = time.Now()
		if err != nil {
			return total, fmt.Errorf("%s %s: %w\n%s", filepath.Base(argv[0]), strings.Join(argv[1:], " "), err,
				stderr.String())
		}
		total.CPU += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		total.MaxRSS = max(total.MaxRSS, maxRSS(cmd.ProcessState))
	}
	return total, nil
}

// maxRSS is in KiB on Linux.
func maxRSS(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
