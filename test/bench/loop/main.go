// Command loop measures `berth serve workspaces` over many workspaces, on a real API server:
// what exchanges take in which nothing has changed, and what one takes that compares
// everything. The pods are plain objects that nothing runs.
package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"time"

	"github.com/berthdev/berth/test/bench/internal/fleet"
	"github.com/berthdev/berth/test/bench/internal/program"
	"github.com/berthdev/berth/test/bench/internal/proxy"
)

type options struct {
	program.Setting
	workspaces, rounds int
	quiet              time.Duration
	strict             bool
}

func main() { program.Main("loop", run) }

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("loop", flag.ContinueOnError)
	o.Flags(flags)
	flags.IntVar(&o.workspaces, "workspaces", 1000, "how many there are")
	flags.IntVar(&o.rounds, "rounds", 5, "how many full exchanges are made")
	flags.DurationVar(&o.quiet, "quiet", 20*time.Second, "for how long nothing changes, with an exchange every second")
	flags.BoolVar(&o.strict, "strict", false, "fail if an aim is missed")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.workspaces < 1 || o.rounds < 1 || o.quiet < partial {
		return o, errors.New("-workspaces and -rounds must be 1 at least, -quiet 1s")
	}
	err := o.Check()
	return o, err
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	config, client, err := o.Client()
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "berth-loop-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }()
	if o.Berth == "" {
		if err := o.Build(ctx, home); err != nil {
			return err
		}
	}
	f := &fleet.Fleet{Client: client, Size: o.workspaces}
	defer f.Remove(context.WithoutCancel(ctx))
	if err := f.Create(ctx); err != nil {
		return err
	}
	p, err := proxy.Start(config)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	m := measurement{options: o, client: client, home: home, proxy: p}
	return m.run(ctx)
}
