// Package program is what the benchmarks that stand beside the first one share: how they
// begin and end, and which programs they measure on which cluster.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berthdev/berth/test/bench/internal/tools"
)

// Main runs a benchmark until it has ended or is interrupted, and exits with 1 if it fails.
func Main(name string, run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Setting is a cluster and the programs that are compared on it.
type Setting struct{ Kubeconfig, Berth, Kubectl string }

// Flags adds the flags of a setting.
func (s *Setting) Flags(flags *flag.FlagSet) {
	flags.StringVar(&s.Kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"),
		"of a test cluster; never that in the home directory unless named")
	flags.StringVar(&s.Berth, "berth", "", "a berth to measure instead of the checkout's")
	flags.StringVar(&s.Kubectl, "kubectl", "", "a kubectl to compare with instead of one that is built")
}

// Check finds what is missing.
func (s *Setting) Check() error {
	if s.Kubeconfig == "" {
		return errors.New("no cluster: start one with `make cluster-up`, or name a -kubeconfig")
	}
	return nil
}

// Build makes the programs that are not named, in a directory.
func (s *Setting) Build(ctx context.Context, dir string) error {
	if s.Berth != "" && s.Kubectl != "" {
		return nil
	}
	built, err := tools.Build(ctx, "../..", dir, func(line string) { fmt.Fprintln(os.Stderr, line) })
	if s.Berth == "" {
		s.Berth = built.Berth
	}
	if s.Kubectl == "" {
		s.Kubectl = built.Kubectl
	}
	return err
}

// Client is the benchmark's own.
func (s *Setting) Client() (*rest.Config, kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	return config, client, err
}
