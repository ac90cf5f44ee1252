// Command streams measures how many bytes a second a session carries: `berth exec` beside
// `kubectl exec`, in turns, into the same pod of a real cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

type options struct {
	kubeconfig, berth, kubectl string
	mebibytes, rounds          int
	strict                     bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "streams:", err)
		os.Exit(1) //nolint:gocritic // the signals need no handler any more
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("streams", flag.ContinueOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "of a test cluster; never that in the home directory unless named")
	flags.StringVar(&o.berth, "berth", "", "a berth to measure instead of the checkout's")
	flags.StringVar(&o.kubectl, "kubectl", "", "a kubectl to compare with instead of one that is built")
	flags.IntVar(&o.mebibytes, "size", 256, "how many MiB each session carries")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each is run")
	flags.BoolVar(&o.strict, "strict", false, "fail if an aim is missed")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.mebibytes < 1 || o.rounds < 1:
		return o, errors.New("-size and -rounds must be 1 at least")
	case o.kubeconfig == "":
		return o, errors.New("no cluster: start one with `make cluster-up`, or name a -kubeconfig")
	}
	return o, nil
}
