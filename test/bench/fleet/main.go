// Command fleet measures listing many workspaces: berth beside kubectl, on a
// real API server. The pods are plain objects, bound to a node without a
// kubelet: what is measured is the answer of the API server and what a client
// makes of it, and for that nothing has to run.
package main

import (
	"context"
	"errors"
	"flag"

	"github.com/berthdev/berth/test/bench/internal/fleet"
	"github.com/berthdev/berth/test/bench/internal/program"
)

type options struct {
	program.Setting
	workspaces, rounds int
}

func main() { program.Main("fleet", run) }

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	o.Flags(flags)
	flags.IntVar(&o.workspaces, "workspaces", 5000, "how many there are; one in a hundred waits for its image")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each command is run")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.workspaces < 1 || o.rounds < 1 {
		return o, errors.New("-workspaces and -rounds must be 1 at least")
	}
	err := o.Check()
	return o, err
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	_, client, err := o.Client()
	if err != nil {
		return err
	}
	f := &fleet.Fleet{Client: client, Size: o.workspaces, WaitEvery: 100}
	defer f.Remove(context.WithoutCancel(ctx))
	if err := f.Create(ctx); err != nil {
		return err
	}
	return measure(ctx, o)
}
