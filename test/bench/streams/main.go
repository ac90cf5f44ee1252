// Command streams measures sessions: bytes a second with `berth exec` beside `kubectl exec`,
// and through a gateway beside those without one; how long a session through a gateway takes
// to open; and what idle ones cost the gateway. All of them are in the same pod of a real
// cluster.
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
	mebibytes, rounds, sessions int
	strict                      bool
}

func main() { program.Main("streams", run) }

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("streams", flag.ContinueOnError)
	o.Flags(flags)
	flags.IntVar(&o.mebibytes, "size", 256, "how many MiB each session carries")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each is run; 0 for not at all")
	flags.IntVar(&o.sessions, "sessions", 200, "how many sessions are idle at once; 0 for none")
	flags.BoolVar(&o.strict, "strict", false, "fail if an aim is missed")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.mebibytes < 1 || o.rounds < 0 || o.sessions < 0 {
		return o, errors.New("-size must be 1 at least, -rounds and -sessions 0")
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
	if o.rounds > 0 {
		if err := s.bytes(ctx, &b); err != nil {
			return err
		}
		if err := s.opening(ctx, &b); err != nil {
			return err
		}
	}
	if o.sessions > 0 {
		if err := s.idle(ctx, &b); err != nil {
			return err
		}
	}
	return b.Show(o.strict)
}
