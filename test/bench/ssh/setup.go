package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berthdev/berth/test/bench/internal/cluster"
	"github.com/berthdev/berth/test/bench/internal/process"
	"github.com/berthdev/berth/test/bench/internal/wire"
)

// setup is a workspace, a wire to its API server, and what ssh is told about it.
type setup struct {
	options
	home      string
	env       []string
	client    kubernetes.Interface
	namespace string
	id        string // of the workspace
	wire      *wire.Wire
	undo      []func(context.Context)
}

func (s *setup) file(name string) string { return filepath.Join(s.home, name) }

// host is what ssh calls the workspace.
func (s *setup) host() string { return s.id + "." + s.namespace + ".berth" }

func (s *setup) close(ctx context.Context) {
	for _, undo := range slices.Backward(s.undo) {
		undo(ctx)
	}
}

// prepare makes all of it. What it returns is to be closed, also with an error.
func prepare(ctx context.Context, o options) (*setup, error) {
	s := &setup{options: o, namespace: fmt.Sprintf("bench-ssh-%d", os.Getpid())}
	var err error
	if s.home, err = os.MkdirTemp("", "berth-ssh-"); err != nil {
		return s, err
	}
	s.undo = append(s.undo, func(context.Context) { _ = os.RemoveAll(s.home) })
	if err := s.Build(ctx, s.home); err != nil {
		return s, err
	}
	config, client, err := s.Client()
	if err != nil {
		return s, err
	}
	s.client = client
	if err := s.connect(config.Host); err != nil {
		return s, err
	}
	s.undo = append(s.undo, func(ctx context.Context) {
		if err := cluster.Remove(ctx, s.client, s.namespace); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
	if err := cluster.Create(ctx, s.client, s.namespace); err != nil {
		return s, err
	}
	s.env = append(process.Env(s.home, s.file("wired")), "BERTH_BLUEPRINTS=blueprints",
		"XDG_CONFIG_HOME="+s.file("settings"))
	id, err := process.Output(ctx, s.env, s.Berth, "provision", "bench~bench", "--namespace", s.namespace, "--set",
		"resources.cpu=1", "--set", "resources.memory=1Gi", "-o", "name")
	if err != nil {
		return s, err
	}
	s.id = strings.TrimSpace(id)
	err = s.configure(ctx)
	return s, err
}

// connect opens the wire, and writes a kubeconfig that leads through it.
func (s *setup) connect(host string) error {
	server, err := url.Parse(host)
	if err != nil {
		return err
	}
	if s.wire, err = wire.Start(server.Host); err != nil {
		return err
	}
	s.undo = append(s.undo, func(context.Context) { _ = s.wire.Close() })
	config, err := clientcmd.LoadFromFile(s.Kubeconfig)
	if err != nil {
		return err
	}
	for _, c := range config.Clusters {
		c.Server, c.TLSServerName = "https://"+s.wire.Addr(), server.Hostname()
	}
	return clientcmd.WriteToFile(*config, s.file("wired"))
}

// configure tells ssh about the workspace: in the words of `berth ssh config`, but for the host key, which nobody has
// checked yet.
func (s *setup) configure(ctx context.Context) error {
	text := fmt.Sprintf(`Host *.berth
  ProxyCommand "%s" ssh proxy %%n
  User berth
  HostKeyAlias berth
  UserKnownHostsFile %s
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking accept-new
  UpdateHostKeys no
  PreferredAuthentications none
  IdentityFile none
  IdentitiesOnly yes
  Ciphers aes128-gcm@openssh.com,chacha20-poly1305@openssh.com
  LogLevel ERROR
`, s.Berth, s.file("known_hosts"))
	if err := os.WriteFile(s.file("config"), []byte(text), 0o600); err != nil {
		return err
	}
	return s.run(ctx, s.ssh("true")...)
}

func (s *setup) ssh(args ...string) []string {
	return append([]string{"ssh", "-F", s.file("config"), s.host()}, args...)
}

func (s *setup) scp(args ...string) []string {
	return append([]string{"scp", "-q", "-r", "-F", s.file("config")}, args...)
}

func (s *setup) kubectl(args ...string) []string {
	return append([]string{s.Kubectl, "--namespace", s.namespace}, args...)
}

// shared is ssh through the connection of share.
func (s *setup) shared(args ...string) []string {
	return append([]string{"ssh", "-S", s.file("mux")}, s.ssh(args...)[1:]...)
}

// share makes a connection that others share, by a client that does nothing else.
func (s *setup) share(ctx context.Context) (pid int, stop func(), err error) {
	master := s.command(ctx, append([]string{"ssh", "-N", "-M", "-S", s.file("mux")}, s.ssh()[1:]...)...)
	master.Stderr = os.Stderr
	if err := master.Start(); err != nil {
		return 0, nil, err
	}
	stop = func() {
		_ = master.Process.Kill()
		_ = master.Wait()
		_ = os.Remove(s.file("mux"))
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(s.file("mux")); err == nil {
			return master.Process.Pid, stop, nil
		}
		if time.Now().After(deadline) {
			stop()
			return 0, nil, errors.New("the connection that others share is not made")
		}
	}
}

// run runs a command to its end.
func (s *setup) run(ctx context.Context, argv ...string) error {
	if out, err := s.command(ctx, argv...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}

func (s *setup) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = s.env
	return cmd
}
