package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/test/bench/internal/fleet"
	"github.com/berthdev/berth/test/bench/internal/process"
)

// server is a running `berth serve workspaces`.
type server struct {
	cmd     *exec.Cmd
	logFile string
}

// start runs a loop on this host, whose requests go through the proxy.
func (m measurement) start(ctx context.Context) (*server, error) {
	kubeconfig := filepath.Join(m.home, "kubeconfig")
	if err := m.proxy.WriteKubeconfig(kubeconfig); err != nil {
		return nil, err
	}
	s := &server{logFile: filepath.Join(m.home, "loop.log")}
	log, err := os.Create(s.logFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	s.cmd = exec.CommandContext(ctx, m.Berth, "serve", "workspaces", "--only", fleet.Namespace, "--system-namespace",
		fleet.Namespace, "--trust-records", // the policy without which nothing is done is for the whole cluster
		"--partial", partial.String(), "--metrics-listen", "127.0.0.1:0")
	s.cmd.Env, s.cmd.Stderr = process.Env(m.home, kubeconfig), log
	return s, s.cmd.Start()
}

// stop ends it. It gives its lease back, so that the next one need not wait.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

func (s *server) log() string {
	text, err := os.ReadFile(s.logFile)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// ticks is how many parts of a second the kernel counts processor time in, for programs.
const ticks = 100

// cpu is the processor time that it has taken so far.
func (s *server) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), ") ") // the name may have anything in it
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, fmt.Errorf("the kernel does not say what process %d has taken", s.cmd.Process.Pid)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticks, err
}
