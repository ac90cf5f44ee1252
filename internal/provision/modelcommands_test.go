package provision

import (
	"context"
	"testing"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
)

// modelCommand is what a command on the workspace of the model has.
type modelCommand struct {
	*Provisioner
	t      *testing.T
	user   string
	stream *event.Stream
}

func (c modelCommand) parsed() userstring.UserString {
	c.t.Helper()
	u, err := userstring.Parse(c.user)
	if err != nil {
		c.t.Fatal(err)
	}
	return u
}

func (c modelCommand) argument() inventory.Argument {
	c.t.Helper()
	arg, err := inventory.ParseArgument(c.user)
	if err != nil {
		c.t.Fatal(err)
	}
	return arg
}

func (c modelCommand) find(ctx context.Context) (*inventory.Target, error) {
	return c.FindToDelete(ctx, c.argument())
}

// onTarget is a command that finds the workspace first.
func onTarget(do func(ctx context.Context, c modelCommand, t *inventory.Target) error) func(context.Context, modelCommand) error {
	return func(ctx context.Context, c modelCommand) error {
		target, err := c.FindRecorded(ctx, c.argument())
		if err != nil {
			return err
		}
		return do(ctx, c, target)
	}
}

// modelCommands are what can be done with a workspace beside provisioning and deleting it.
func modelCommands() map[string]func(context.Context, modelCommand) error {
	return map[string]func(context.Context, modelCommand) error{
		"provision again": func(ctx context.Context, c modelCommand) error {
			_, err := c.Provision(ctx, c.parsed(), c.stream)
			return err
		},
		"provision into a new namespace": func(ctx context.Context, c modelCommand) error {
			c.CreateNamespace = true
			_, err := c.Provision(ctx, c.parsed(), c.stream)
			return err
		},
		"provision what fails": func(ctx context.Context, c modelCommand) error {
			c.OnFailure = DeleteOnFailure
			c.Overrides = []catalog.Override{{Flag: "--set", Path: "image", Value: brokenImage}}
			_, err := c.Provision(ctx, c.parsed(), c.stream)
			return err
		},
		"preview": func(ctx context.Context, c modelCommand) error {
			_, err := c.Preview(ctx, c.parsed(), apply.DryRunServer, c.stream)
			return err
		},
		"update of the environment": func(ctx context.Context, c modelCommand) error {
			c.Overrides = []catalog.Override{{Flag: "--set", Path: "env.GREETING", Value: "hello"}}
			return c.update(ctx, Updating{})
		},
		"update": func(ctx context.Context, c modelCommand) error {
			c.Overrides = []catalog.Override{
				{Flag: "--set", Path: "env.GREETING", Value: "hello"},
				{Flag: "--set", Path: "storages.data.claimSpec.resources.requests.storage", Value: "16Mi"},
			}
			return c.update(ctx, Updating{})
		},
		"roll back": func(ctx context.Context, c modelCommand) error {
			return c.update(ctx, Updating{Rollback: true})
		},
		"stop": onTarget(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			_, err := c.Stop(ctx, t, true, c.stream)
			return err
		}),
		"start": onTarget(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			_, err := c.Start(ctx, t, c.stream)
			return err
		}),
		"restart": onTarget(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			_, err := c.Restart(ctx, t, c.stream)
			return err
		}),
		"await": onTarget(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			_, err := c.Await(ctx, t, c.stream)
			return err
		}),
		"take up": onTarget(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			_, err := c.TakeUp(ctx, t)
			return err
		}),
		"take up stopped": func(ctx context.Context, c modelCommand) error {
			_, err := c.TakeUpStopped(ctx, "dev", c.parsed().ID())
			return err
		},
		"inspect": func(ctx context.Context, c modelCommand) error {
			_, err := c.InspectWithEvents(ctx, c.argument())
			return err
		},
		"preview of a deletion": onTarget(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			_, err := c.PreviewDelete(ctx, t, deploy.Removing{DryRun: apply.DryRunServer})
			return err
		}),
	}
}

func (c modelCommand) update(ctx context.Context, how Updating) error {
	plan, err := c.PlanUpdate(ctx, c.parsed(), how, c.stream)
	if err != nil {
		return err
	}
	_, err = c.Update(ctx, plan, c.stream)
	return err
}
