package status

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// list reads the workspaces that match, those without pods as well. A warning says why some
// of these cannot be read.
func (o *Options) list(ctx context.Context, reader inventory.Reader, q fleet.Query,
	read recorded.Read,
) (*v1.WorkspaceList, error) {
	place, done, err := o.States(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	limits, err := o.Limits()
	if err != nil {
		return nil, err
	}
	list, missing, err := recorded.List(ctx, reader, place, limits, q, read)
	warnMissing(o.IO, missing)
	return list, err
}

// warnMissing says what cannot be read.
func warnMissing(io terminal.Streams, missing []error) {
	for _, problem := range missing {
		printer.PrintWarning(io, "not all workspaces without a pod are listed: "+problem.Error())
	}
}

// inspect reads one workspace, and what is recorded of it.
func (o *Options) inspect(ctx context.Context, reader inventory.Reader, arg inventory.Argument,
	read func(context.Context, inventory.Argument) (*v1.Workspace, error),
) (*v1.Workspace, error) {
	w, err := read(ctx, arg)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return nil, err
	}
	place, done, placeErr := o.States(ctx)
	if placeErr != nil {
		return nil, placeErr
	}
	defer done()
	limits, limitsErr := o.Limits()
	if limitsErr != nil {
		return nil, limitsErr
	}
	if err == nil {
		r, recordErr := recorded.Get(ctx, place, w.Namespace, w.ID)
		if recordErr != nil {
			printer.PrintWarning(o.IO, "its desired state is not known: "+recordErr.Error())
		}
		return new(recorded.Due(recorded.With(*w, r), r, limits)), nil
	}
	namespace := reader.In(arg.Namespace).Client.Namespace
	limited, cancel := context.WithTimeout(ctx, recorded.Timeout)
	defer cancel()
	if r, recordErr := recorded.Find(limited, place, namespace, arg); recordErr == nil && r.ID != "" {
		return new(recorded.Due(recorded.Of(r, namespace), r, limits)), nil
	}
	return nil, cmdutil.Because(ctx, err)
}

// changes are how the states of the workspace have changed, as far as that is recorded.
func (o *Options) changes(ctx context.Context) ([]v1.StateChange, error) {
	arg, err := inventory.ParseArgument(o.Workspace)
	if err != nil {
		return nil, err
	}
	reader, err := cmdutil.Await(ctx, o.Inventory)
	if err != nil {
		return nil, err
	}
	place, done, err := o.States(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	limited, cancel := context.WithTimeout(ctx, recorded.Timeout)
	defer cancel()
	r, err := recorded.Find(limited, place, reader.In(arg.Namespace).Client.Namespace, arg)
	return r.History, err
}
