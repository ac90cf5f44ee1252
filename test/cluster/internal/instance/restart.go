package instance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berthdev/berth/test/cluster/internal/process"
	"github.com/berthdev/berth/test/cluster/internal/supervisor"
)

// Restart kills a daemon, as a crash would, and returns once the supervisor has
// started it again and it is ready.
func (i *Instance) Restart(ctx context.Context, name string) error {
	daemons := i.settings().Daemons()
	at := slices.IndexFunc(daemons, func(d supervisor.Daemon) bool { return d.Name == name })
	if at < 0 {
		return fmt.Errorf("there is no daemon %q", name)
	}
	before, err := i.daemon(name)
	if err != nil {
		return err
	}
	args := daemons[at].Args
	found, err := process.Find(args)
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return fmt.Errorf("%d processes are %s", len(found), name)
	}
	if err := process.Kill(found[0], process.HasArgs(args), killTime); err != nil {
		return err
	}
	for {
		now, err := i.daemon(name)
		if err != nil {
			return err
		}
		if now.Ready && now.Restarts > before.Restarts {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not ready again: %w", name, ctx.Err())
		case <-time.After(restartPoll):
		}
	}
}

const (
	killTime    = 10 * time.Second
	restartPoll = 50 * time.Millisecond
)

func (i *Instance) daemon(name string) (Daemon, error) {
	daemons, err := i.Daemons()
	if err != nil {
		return Daemon{}, err
	}
	at := slices.IndexFunc(daemons, func(d Daemon) bool { return d.Name == name })
	if at < 0 {
		return Daemon{}, fmt.Errorf("nothing is known of %s", name)
	}
	return daemons[at], nil
}
