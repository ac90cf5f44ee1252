package recorded

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
)

// Stopped finds the workspaces that match a query and have no pods, by their records. The
// limits are those of the configuration.
type Stopped struct {
	Place  lifecycle.Place
	Limits lifecycle.Limits
	Query  fleet.Query
}

// Add is Complete with the records as they are now. What is missing are those that cannot be
// read; for who may not read them there are none.
func (s Stopped) Add(ctx context.Context, seen []v1.Workspace) (all []v1.Workspace, missing []error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	records, missing, err := s.Place.Of(s.Query.Namespace).List(ctx)
	if err != nil && fault.CodeOf(err) != fault.PermissionDenied {
		missing = []error{err}
	}
	return Complete(seen, records, s.Limits, s.Query), missing
}

// InsteadOfGone are workspaces as they have changed; one whose pod is gone because it was stopped
// is Stopped. Where the record cannot be read, it is gone.
func (s Stopped) InsteadOfGone(ctx context.Context, changed []v1.Workspace) []v1.Workspace {
	for i, w := range changed {
		if !w.Gone {
			continue
		}
		if r, err := Get(ctx, s.Place, w.Namespace, w.ID); err == nil && r.ID != "" && r.Desired == v1.DesiredStopped {
			changed[i] = Due(Of(r, w.Namespace), r, s.Limits)
		}
	}
	return changed
}
