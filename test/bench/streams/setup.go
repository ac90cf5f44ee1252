package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berthdev/berth/test/bench/internal/cluster"
	"github.com/berthdev/berth/test/bench/internal/process"
	"github.com/berthdev/berth/test/bench/internal/wire"
)

// setup is a workspace, a gateway, and a wire to each of the two ways into the workspace.
type setup struct {
	options
	home      string
	env       []string
	config    *rest.Config
	client    kubernetes.Interface
	namespace string
	id        string // of the workspace
	gateway   *gateway
	toAPI     *wire.Wire // what the kubeconfig wired leads through
	toGateway *wire.Wire
	undo      []func(context.Context)
}

// wired is the kubeconfig that leads through a wire.
func (s *setup) wired() string { return filepath.Join(s.home, "wired") }

func (s *setup) close(ctx context.Context) {
	for _, undo := range slices.Backward(s.undo) {
		undo(ctx)
	}
}

// prepare makes all of it. What it returns is to be closed, also with an error.
func prepare(ctx context.Context, o options) (*setup, error) {
	s := &setup{options: o, namespace: fmt.Sprintf("bench-streams-%d", os.Getpid())}
	var err error
	if s.home, err = os.MkdirTemp("", "berth-streams-"); err != nil {
		return s, err
	}
	s.undo = append(s.undo, func(context.Context) { _ = os.RemoveAll(s.home) })
	if err := s.Build(ctx, s.home); err != nil {
		return s, err
	}
	if s.config, s.client, err = s.Client(); err != nil {
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
	s.env = append(process.Env(s.home, s.Kubeconfig), "BERTH_BLUEPRINTS=blueprints", "BERTH_CONFIG="+
		filepath.Join(s.home, "config.yaml"))
	if err := os.WriteFile(filepath.Join(s.home, "config.yaml"), nil, 0o600); err != nil {
		return s, err
	}
	id, err := process.Output(ctx, s.env, s.Berth, "provision", "bench~bench", "--namespace", s.namespace, "--set",
		"resources.cpu=2", "--set", "resources.memory=1Gi", "-o", "name")
	if err != nil {
		return s, err
	}
	s.id = strings.TrimSpace(id)
	if err := s.wires(ctx); err != nil {
		return s, err
	}
	err = s.configure(ctx)
	return s, err
}

// wires opens both wires; the gateway is started for that.
func (s *setup) wires(ctx context.Context) error {
	server, err := url.Parse(s.config.Host)
	if err != nil {
		return err
	}
	if s.toAPI, err = wire.Start(server.Host); err != nil {
		return err
	}
	s.undo = append(s.undo, func(context.Context) { _ = s.toAPI.Close() })
	config, err := clientcmd.LoadFromFile(s.Kubeconfig)
	if err != nil {
		return err
	}
	for _, c := range config.Clusters {
		c.Server, c.TLSServerName = "https://"+s.toAPI.Addr(), server.Hostname()
	}
	if err := clientcmd.WriteToFile(*config, s.wired()); err != nil {
		return err
	}
	if s.gateway, err = start(ctx, s.home, s.Berth, s.Kubeconfig, max(s.sessions, 10)); err != nil {
		return err
	}
	s.undo = append(s.undo, func(context.Context) { s.gateway.stop() })
	if s.toGateway, err = wire.Start(s.gateway.address); err != nil {
		return err
	}
	s.undo = append(s.undo, func(context.Context) { _ = s.toGateway.Close() })
	return nil
}

// configure names the gateway in a configuration: near as it is, wired through its wire.
func (s *setup) configure(ctx context.Context) error {
	token, err := s.user(ctx)
	if err != nil {
		return err
	}
	file := filepath.Join(s.home, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		return err
	}
	s.gateway.token = token
	var text strings.Builder
	fmt.Fprintln(&text, "gateways:")
	for name, address := range map[string]string{"near": s.gateway.address, "wired": s.toGateway.Addr()} {
		fmt.Fprintf(&text, "  - {name: %s, url: \"https://%s\", ca: %s, namespace: %s, credential: {tokenFile: %s}}\n",
			name, address, s.gateway.ca, s.namespace, file)
	}
	return os.WriteFile(filepath.Join(s.home, "config.yaml"), []byte(text.String()), 0o600)
}
