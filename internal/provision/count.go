package provision

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
)

// workspaceCount is the workspaces that there are in a namespace, if that is limited.
type workspaceCount struct {
	there []v1.Workspace
	err   error // that kept them from being counted
}

// counting is the step that counts the workspaces; none if nothing limits them.
func (s provisioning) counting(ctx context.Context, c *workspaceCount) []event.Step {
	if s.Allowance == nil {
		return nil
	}
	return []event.Step{{Name: "count", Quiet: true, Do: func() (string, error) {
		c.there, c.err = s.workspaces().Count(ctx)
		return "", nil // it counts for one that is not there yet only
	}}}
}

// workspaces are those of the namespace: with pods, and without by what there is of them, kept
// storage as well.
func (p *Provisioner) workspaces() recorded.Podless {
	return recorded.Podless{
		Reader: p.Reader, Place: p.States,
		Query: fleet.Query{Namespace: p.Client.Namespace, Kept: true},
	}
}
