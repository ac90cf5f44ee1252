package controller

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/reconcile"
)

// Result is what has become of a workspace in a pass.
type Result struct {
	Record lifecycle.Record
	Did    Action
	Err    error
}

// rounds is how many exchanges a pass makes at most: two for the halves of a restart, and one
// that records what has come of it.
const rounds = 3

// Pass makes an exchange and works on what has to be, until nothing is to be done or to be
// recorded. What has to be waited for is left to the next pass.
func (c *Controller) Pass(ctx context.Context, full bool) ([]Result, error) {
	k, all := newKnown(), map[string]Result{}
	for n := range rounds {
		if err := c.look(ctx, k); err != nil {
			return nil, err
		}
		todo, _, err := c.exchange(ctx, k, full && n == 0)
		if err != nil {
			return nil, err
		}
		todo = slices.DeleteFunc(todo, func(key string) bool { return all[key].Err != nil })
		if len(todo) == 0 && n > 0 {
			break
		}
		c.workOnAll(ctx, k, todo, all)
	}
	results := make([]Result, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		r := all[key]
		if record, _ := k.of(key); record.ID != "" {
			r.Record = record
		}
		results = append(results, r)
	}
	return results, nil
}

// look reads everything, of which nothing is known from before.
func (c *Controller) look(ctx context.Context, k *known) error {
	list, err := fleet.List(ctx, c.Provisioner.Reader, fleet.Query{Namespace: c.Namespace})
	if err != nil {
		return err
	}
	k.seeAll(list.Items)
	if err := c.reload(ctx, k); err != nil {
		return err
	}
	k.touchAll()
	return nil
}

// workOnAll works on workspaces, and adds what has become of them.
func (c *Controller) workOnAll(ctx context.Context, k *known, keys []string, all map[string]Result) {
	results := make([]Result, len(keys))
	var group errgroup.Group
	group.SetLimit(max(c.Workers, 1))
	for i, key := range keys {
		group.Go(func() error {
			results[i].Record, _ = k.of(key)
			limited, cancel := context.WithTimeout(ctx, c.Timeout)
			defer cancel()
			results[i].Err = reconcile.Guard(c.Log, key, func() (err error) {
				results[i].Did, err = c.one(limited, k, key)
				return err
			})
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	for i, key := range keys {
		if results[i].Did == Nothing && results[i].Err == nil {
			results[i].Did = all[key].Did
		}
		all[key] = results[i]
	}
}
