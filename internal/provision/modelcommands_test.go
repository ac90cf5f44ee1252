package provision

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/desired"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
)

// modelCommand is what a command on the workspace of the model has.
type modelCommand struct {
	*Provisioner
	process *process
	t       *testing.T
	user    string
	stream  *event.Stream
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

// says keeps what a command returns.
func (c modelCommand) says(format string, args ...any) {
	c.process.results = append(c.process.results, fmt.Sprintf(format, args...))
}

func (c modelCommand) outcome(o Outcome, err error) error {
	if w := o.Workspace; w != nil {
		c.says("it is %s, %s", w.Stage, w.Status)
	}
	if o.Left != "" {
		c.says("what is left is %s", o.Left)
	}
	for _, problem := range o.Problems {
		c.says("problem: %s", problem)
	}
	return err
}

func (c modelCommand) changes(all apply.Changes, err error) error {
	for _, change := range all {
		c.says("would %s %s %s", change.Action, change.Object.GetKind(), change.Object.GetName())
	}
	return err
}

func (c modelCommand) plan(ctx context.Context, how Updating) (*Update, error) {
	plan, err := c.PlanUpdate(ctx, c.parsed(), how, c.stream)
	if err != nil {
		return nil, err
	}
	c.says("differs: %t, idle: %t, in %q, storages that grow: %d", plan.Differs(), plan.Idle(), plan.Changes,
		len(plan.Storage))
	return plan, c.changes(plan.Objects, nil)
}

// on is a command that finds the workspace first.
func on(do func(ctx context.Context, c modelCommand, t *inventory.Target) error) func(context.Context,
	modelCommand) error {
	return func(ctx context.Context, c modelCommand) error {
		target, err := c.FindRecorded(ctx, c.argument())
		if err != nil {
			return err
		}
		return do(ctx, c, target)
	}
}

// provisions brings up the workspace with a setting, and with fields as --set sets them.
func provisions(set func(*Provisioner), fields ...string) func(context.Context, modelCommand) error {
	return func(ctx context.Context, c modelCommand) error {
		set(c.Provisioner)
		c.set(fields)
		return c.outcome(c.Provision(ctx, c.parsed(), c.stream))
	}
}

// previews says what provisioning would do.
func previews(set func(*Provisioner)) func(context.Context, modelCommand) error {
	return func(ctx context.Context, c modelCommand) error {
		set(c.Provisioner)
		return c.changes(c.Preview(ctx, c.parsed(), apply.DryRunServer, c.stream))
	}
}

// updates plans an update, and carries it out.
func updates(how Updating, fields ...string) func(context.Context, modelCommand) error {
	return func(ctx context.Context, c modelCommand) error {
		c.set(fields)
		plan, err := c.plan(ctx, how)
		if err != nil {
			return err
		}
		return c.outcome(c.Update(ctx, plan, c.stream))
	}
}

// plans says what an update would do.
func plans(how Updating, fields ...string) func(context.Context, modelCommand) error {
	return func(ctx context.Context, c modelCommand) error {
		c.set(fields)
		_, err := c.plan(ctx, how)
		return err
	}
}

// set sets PATH=VALUE.
func (c modelCommand) set(fields []string) {
	for _, field := range fields {
		at, value, _ := strings.Cut(field, "=")
		c.Overrides = append(c.Overrides, catalog.Override{Flag: "--set", Path: at, Value: value})
	}
}

// modelCommands are what can be done with a workspace beside provisioning and deleting it.
func modelCommands() map[string]func(context.Context, modelCommand) error {
	const size = "storages.data.claimSpec.resources.requests.storage="
	plainly := func(*Provisioner) {}
	intoNew := func(p *Provisioner) { p.CreateNamespace = true }
	return map[string]func(context.Context, modelCommand) error{
		"provision again":                provisions(plainly),
		"provision into a new namespace": provisions(intoNew),
		"provision without waiting":      provisions(func(p *Provisioner) { p.NoWait = true }),
		"provision what fails": provisions(func(p *Provisioner) { p.OnFailure = DeleteOnFailure }, "image="+
			brokenImage),
		"provision a shared storage": provisions(plainly,
			"storages.team={type: shared, path: /mnt/team, claimSpec: {accessModes: [ReadWriteMany], resources: "+
				"{requests: {storage: 1Gi}}}}"),
		"provision what fails and stays": provisions(plainly, "image="+brokenImage),
		"preview":                        previews(plainly),
		"preview into a new namespace":   previews(intoNew),
		"update the environment":         updates(Updating{}, "env.GREETING=hello"),
		"update to more storage":         updates(Updating{}, "env.GREETING=hello", size+"16Mi"),
		"update to less storage":         updates(Updating{}, size+"4Mi"),
		"update nothing":                 updates(Updating{}),
		"update or provision":            updates(Updating{Create: true}, "env.GREETING=hello"),
		"preview of an update":           plans(Updating{DryRun: apply.DryRunServer}, "env.GREETING=hello"),
		"preview of an update here":      plans(Updating{DryRun: apply.DryRunClient}, "env.GREETING=hello"),
		"preview of a creation":          plans(Updating{DryRun: apply.DryRunServer, Create: true}),
		"roll back":                      updates(Updating{Rollback: true}),
		"stop": on(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			stop, err := c.Stop(ctx, t, true, c.stream)
			c.says("stopped: %t, already: %t", stop.Stopped, stop.Already)
			return err
		}),
		"stop without waiting": on(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			stop, err := c.Stop(ctx, t, false, c.stream)
			c.says("stopped: %t, already: %t", stop.Stopped, stop.Already)
			return err
		}),
		"start with its intent": on(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			r, err := c.States.Of("dev").Get(ctx, t.ID)
			if err != nil {
				return err
			}
			c.Intent = new(desired.IntentOf(r, true))
			return c.outcome(c.Start(ctx, t, c.stream))
		}),
		"start with an old intent": on(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			c.Intent = &desired.Intent{}
			return c.outcome(c.Start(ctx, t, c.stream))
		}),
		"start": on(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			return c.outcome(c.Start(ctx, t, c.stream))
		}),
		"start by its ID": func(ctx context.Context, c modelCommand) error {
			arg, err := inventory.ParseArgument("id/" + c.parsed().ID())
			if err != nil {
				return err
			}
			target, err := c.FindRecorded(ctx, arg)
			if err != nil {
				return err
			}
			return c.outcome(c.Start(ctx, target, c.stream))
		},
		"restart": on(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			return c.outcome(c.Restart(ctx, t, c.stream))
		}),
		"await": on(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			return c.outcome(c.Await(ctx, t, c.stream))
		}),
		"adopt": on(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			_, err := c.State(t.Namespace, t.ID, userstring.Workload{}).Adopt(ctx, t.Found)
			return err
		}),
		"adopt without a pod": func(ctx context.Context, c modelCommand) error {
			_, err := c.State("dev", c.parsed().ID(), userstring.Workload{}).AdoptPodless(ctx)
			return err
		},
		"inspect": func(ctx context.Context, c modelCommand) error {
			w, err := c.InspectWithEvents(ctx, c.argument())
			return c.outcome(Outcome{Workspace: w}, err)
		},
		"measure its storage": on(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			all, err := c.Storage(ctx, t)
			for _, storage := range all {
				c.says("would delete %s (%s), used: %t", storage.Name, storage.Claim, storage.Used != nil)
			}
			return err
		}),
		"preview of a deletion": on(func(ctx context.Context, c modelCommand, t *inventory.Target) error {
			return c.changes(c.PreviewDelete(ctx, t, deploy.Removing{DryRun: apply.DryRunServer}))
		}),
		"preview of a deletion without storage": on(func(ctx context.Context, c modelCommand,
			t *inventory.Target,
		) error {
			return c.changes(c.PreviewDelete(ctx, t, deploy.Removing{DryRun: apply.DryRunServer, KeepStorage: true}))
		}),
	}
}
