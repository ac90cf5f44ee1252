package cmdutil

import (
	"context"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
)

// States is where it is kept what workspaces are meant to be: where the records of jobs are,
// or in the cluster if none are kept. It shares their connection.
func (r *Recorders) States(client *kube.Client) lifecycle.Place {
	return lifecycle.Place{Client: client, NATS: r.stores.Connection()}
}

// Limits are those of the configuration, which hold where the blueprint of a workspace says
// nothing.
func (d *Dependencies) Limits() (lifecycle.Limits, error) {
	c, err := d.Config()
	return lifecycle.Hours(c.Limits.Limits).Limits(), err
}

// States opens that place, and says how to close it.
func (d *Dependencies) States(ctx context.Context) (place lifecycle.Place, done func(), err error) {
	stores, _, err := d.jobStores(ctx)
	if err != nil {
		return place, nil, err
	}
	client, err := d.Client()
	return lifecycle.Place{Client: client, NATS: stores.Connection()}, stores.Close, err
}

// LimitsNow are Limits as the configuration is now.
func (d *Dependencies) LimitsNow() (lifecycle.Limits, error) {
	c, err := d.Reload()
	return lifecycle.Hours(c.Limits.Limits).Limits(), err
}
