package provision

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
)

// FindRecorded is Find that also finds a workspace which is not in its workload, by what is
// recorded of it: an ID does not say which workload that is.
func (p *Provisioner) FindRecorded(ctx context.Context, arg inventory.Argument) (*inventory.Target, error) {
	target, err := p.Find(ctx, arg)
	if fault.CodeOf(err) != fault.NotFound || !p.keepsStates() {
		return target, err
	}
	r, recordErr := p.recordOf(ctx, arg)
	if recordErr != nil {
		return nil, recordErr
	}
	again, parseErr := inventory.ParseRecorded(r.UserString)
	if parseErr != nil || again.Text == arg.Text {
		return nil, err
	}
	again.Namespace = arg.Namespace
	return p.Find(ctx, again)
}

// recordOf is the record of the workspace that an argument means, as far as it can be read.
func (p *Provisioner) recordOf(ctx context.Context, arg inventory.Argument) (lifecycle.Record, error) {
	r, err := recorded.Find(ctx, p.States, p.in(arg.Namespace).Client.Namespace, arg)
	if fault.ReasonOf(err) == lifecycle.ReasonUnreadable {
		err = nil
	}
	return r, err
}

// onlyRecorded is a workspace of which there is nothing but its record, since somebody else
// has removed it; otherwise notFound. One that is being deleted is gone.
func (p *Provisioner) onlyRecorded(ctx context.Context, arg inventory.Argument, notFound error) (*inventory.Target,
	error,
) {
	if !p.keepsStates() {
		return nil, notFound
	}
	r, err := p.recordOf(ctx, arg)
	if err != nil {
		return nil, err
	}
	if r.ID == "" || r.Desired == v1.DesiredTerminated {
		return nil, notFound
	}
	return &inventory.Target{ID: r.ID, Namespace: r.Namespace}, nil
}
