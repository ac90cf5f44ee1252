// Command ssh measures SSH clients with berth as their proxy beside kubectl: commands, files, ports, and what the proxy
// takes. All of them are in the same pod of a real cluster.
package main

import (
	"context"
	"errors"
	"flag"

	"github.com/berthdev/berth/test/bench/internal/board"
	"github.com/berthdev/berth/test/bench/internal/program"
)

type options struct {
	program.Setting
	mebibytes, rounds int
	strict            bool
}

func main() { program.Main("ssh", run) }

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("ssh", flag.ContinueOnError)
	o.Flags(flags)
	flags.IntVar(&o.mebibytes, "size", 256, "how many MiB a file has")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each is run")
	flags.BoolVar(&o.strict, "strict", false, "fail if an aim is missed")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.mebibytes < 1 || o.rounds < 1 {
		return o, errors.New("-size and -rounds must be 1 at least")
	}
	err := o.Check()
	return o, err
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	s, err := prepare(ctx, o)
	defer s.close(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	var b board.Board
	for _, measure := range []func(context.Context, *board.Board) error{
		s.commands, s.files, s.small, s.ports,
		s.memory,
	} {
		if err := measure(ctx, &b); err != nil {
			return err
		}
	}
	return b.Show(o.strict)
}
