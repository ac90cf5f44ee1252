package provision

import (
	"context"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// FindRecorded is Find that also finds a workspace which is not in its workload, by what is
// recorded of it: an ID does not say which workload that is.
func (p *Provisioner) FindRecorded(ctx context.Context, arg inventory.Argument) (*inventory.Target, error) {
	target, err := p.Find(ctx, arg)
	if fault.CodeOf(err) != fault.NotFound || !p.keepsStates() {
		return target, err
	}
	for _, id := range arg.IDs() {
		r, recordErr := p.in(arg.Namespace).states().Get(ctx, id)
		if recordErr != nil && fault.CodeOf(recordErr) != fault.PermissionDenied {
			return nil, recordErr
		}
		again, parseErr := inventory.ParseArgument(r.UserString)
		if r.ID == "" || parseErr != nil || !arg.Means(id, r.UserString) || again.Text == arg.Text {
			continue
		}
		again.Namespace = arg.Namespace
		return p.Find(ctx, again)
	}
	return nil, err
}
