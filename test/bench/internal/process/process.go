// Package process runs a program and measures it from outside.
package process

import (
	"bytes"
	"context"
	"fmt"
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
	MaxRSS          int64 // bytes, of the largest
}

// Env is all that the programs see of the environment: nothing that is set
// outside changes what they do. The home directory is theirs for the whole
// benchmark, so what they cache between runs helps them as it helps people.
func Env(home, kubeconfig string) []string {
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + kubeconfig}
}

// Run runs commands one after the other and gives back what the last one wrote
// to standard output.
func Run(ctx context.Context, env []string, commands ...[]string) (Usage, string, error) {
	var total Usage
	var out string
	for i, argv := range commands {
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
		if i == 0 {
			total.Started = time.Now()
		}
		err := cmd.Run()
		total.Exited = time.Now()
		if err != nil {
			return total, "", fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(argv[0]), strings.Join(argv[1:], " "), err, stdout.String(), stderr.String())
		}
		total.CPU += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		total.MaxRSS = max(total.MaxRSS, maxRSS(cmd.ProcessState))
		out = stdout.String()
	}
	return total, out, nil
}

// maxRSS is in KiB on Linux.
func maxRSS(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
