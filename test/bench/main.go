// Command bench compares berth with helm and kubectl side by side, on a real
// cluster, and prints what comes out as a table of ratios.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type options struct {
	kubeconfig string
	berth      string
	json       string
	delay      time.Duration
	rounds     int
	starts     int
	objects    int
	many       int
	timeline   bool
	strict     bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // the signals need no handler any more
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"),
		"of a cluster to measure on; never that in the home directory unless named")
	flags.StringVar(&o.berth, "berth", "", "a berth to measure instead of the checkout's")
	flags.StringVar(&o.json, "json", "", "write every measurement to this file")
	flags.DurationVar(&o.delay, "delay", 40*time.Millisecond, "what is added to every request in the second half")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each program installs the chart, in each half; 0 for not at all")
	flags.IntVar(&o.starts, "starts", 30, "how often each program is started")
	flags.IntVar(&o.objects, "objects", 500, "how many objects a bundle has")
	flags.IntVar(&o.many, "many", 3, "how often each program installs a bundle, in each half; 0 for not at all")
	flags.BoolVar(&o.timeline, "timeline", false, "print when which request was made, for berth's median run")
	flags.BoolVar(&o.strict, "strict", false, "fail if an aim is missed")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q: no arguments are expected", flags.Arg(0))
	case o.rounds < 0 || o.starts < 1 || o.objects < 1 || o.many < 0:
		return o, errors.New("-starts and -objects must be 1 at least, -rounds and -many 0")
	case o.kubeconfig == "":
		return o, errors.New("no cluster: start one with `make cluster-up`, or name a -kubeconfig")
	}
	return o, nil
}
