// Command fleet measures listing many workspaces: berth beside kubectl, on a
// real API server. The pods are plain objects, bound to a node without a
// kubelet: what is measured is the answer of the API server and what a client
// makes of it, and for that nothing has to run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

type options struct {
	kubeconfig, berth, kubectl string
	workspaces, rounds         int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1) //nolint:gocritic // the signals need no handler any more
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "of a test cluster; never that in the home directory unless named")
	flags.StringVar(&o.berth, "berth", "", "a berth to measure instead of the checkout's")
	flags.StringVar(&o.kubectl, "kubectl", "", "a kubectl to compare with instead of one that is built")
	flags.IntVar(&o.workspaces, "workspaces", 5000, "how many there are; one in a hundred waits for its image")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each command is run")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.workspaces < 1 || o.rounds < 1:
		return o, errors.New("-workspaces and -rounds must be 1 at least")
	case o.kubeconfig == "":
		return o, errors.New("no cluster: start one with `make cluster-up`, or name a -kubeconfig")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	f := &fleet{client: client, size: o.workspaces}
	defer f.remove(context.WithoutCancel(ctx))
	if err := f.create(ctx); err != nil {
		return err
	}
	return measure(ctx, o)
}
