package exec

import (
	"context"

	"github.com/berthdev/berth/internal/commands/attach"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
)

// throughOnly refuses what is decided by the gateway, or takes the API server.
func (o *Options) throughOnly() error {
	for _, refused := range []struct {
		flag string
		set  bool
	}{
		{"pod", o.Place.Pod != ""},
		{"no-wait", o.NoWait},
		{"provision", o.Provision},
		{flagKeep, o.Keep},
		{"timeout", o.Timeout != 0},
		{"stuck-after", o.StuckAfter != 0},
		{flagDirect, o.Machine.Direct},
		{machine.FlagInsecure, o.Machine.Trust.Insecure},
	} {
		if refused.set {
			return fault.New(fault.InvalidArgument, "--%s and --%s are mutually exclusive", cmdutil.FlagGateway,
				refused.flag).
				WithHint("leave out one of them")
		}
	}
	return nil
}

// throughGateway enters the workspace, or the machine, through a gateway. Without a command it
// is the gateway that chooses the shell.
func (o *Options) throughGateway(ctx context.Context) error {
	run, err := o.Through(ctx, o.Gateway, o.Workspace, o.Place.Container)
	if err != nil {
		return err
	}
	if o.Machine.Name != "" {
		return o.open(ctx, func(ctx context.Context, s exec.Session) (int,
			error,
		) {
			return run(ctx, nil, machine.Session(s))
		})
	}
	return attach.Command{IO: o.IO, Args: o.Command, Stdin: o.Stdin, Terminal: o.Terminal}.Run(ctx, run, nil)
}
