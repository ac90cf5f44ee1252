package recorded

import (
	"context"
	"slices"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
)

// Timeout is how long the records may take to be read.
const Timeout = 5 * time.Second

// Read reads the workspaces that are seen: fleet.List, or fleet.Names.
type Read func(context.Context, inventory.Reader, fleet.Query) (*v1.WorkspaceList, error)

// List reads the workspaces that match a query, and what is recorded of them, with what a
// limit will make of each; the limits are those of the configuration. What is missing
// are the records that cannot be read; for who may not read them there are none.
func List(ctx context.Context, r inventory.Reader, place lifecycle.Place, limits lifecycle.Limits, q fleet.Query, read Read) (list *v1.WorkspaceList, missing []error, err error) {
	if list, err = read(ctx, r, q); err != nil { // not beside it: a login that fails is tried once
		return nil, nil, err
	}
	list.Items, missing = Stopped{Place: place, Limits: limits, Query: q}.Add(ctx, list.Items)
	return list, missing, nil
}

// Get reads what is recorded of one workspace; an empty record for who may not read it.
func Get(ctx context.Context, place lifecycle.Place, namespace, id string) (lifecycle.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	r, err := place.Of(namespace).Get(ctx, id)
	if fault.CodeOf(err) == fault.PermissionDenied {
		err = nil
	}
	return r, err
}

// Find reads the record of the workspace that an argument means; an empty one if there is
// none, or for who may not read it. One that cannot be read is an error if no other is meant.
func Find(ctx context.Context, place lifecycle.Place, namespace string, arg inventory.Argument) (lifecycle.Record, error) {
	var unreadable error
	for _, id := range arg.IDs() {
		r, err := place.Of(namespace).Get(ctx, id)
		switch {
		case fault.CodeOf(err) == fault.PermissionDenied:
		case fault.ReasonOf(err) == lifecycle.ReasonUnreadable:
			unreadable = err
		case err != nil:
			return lifecycle.Record{}, err
		case r.ID != "" && arg.Means(id, r.UserString):
			return r, nil
		}
	}
	return lifecycle.Record{}, unreadable
}

// Complete adds to a list of workspaces that were seen what is recorded of them, and those
// that match the query and are only recorded.
func Complete(seen []v1.Workspace, records []lifecycle.Record, limits lifecycle.Limits, q fleet.Query) []v1.Workspace {
	type key struct{ namespace, id string }
	left := make(map[key]lifecycle.Record, len(records))
	for _, r := range records {
		left[key{r.Namespace, r.ID}] = r
	}
	for i, w := range seen {
		k := key{w.Namespace, w.ID}
		seen[i] = Due(With(w, left[k]), left[k], limits)
		delete(left, k)
	}
	for _, r := range left {
		if w := Due(Of(r, r.Namespace), r, limits); matches(w, q) {
			seen = append(seen, w)
		}
	}
	fleet.Sort(seen, fleet.ByDefault)
	return seen
}

// matches is true for a workspace without pods that is meant. It has no labels.
func matches(w v1.Workspace, q fleet.Query) bool {
	is := func(values []string, value string) bool {
		return len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, value) })
	}
	return q.Labels == "" && q.IsOwned(w) && is(q.Blueprints, w.Blueprint) &&
		(len(q.Stages) == 0 || slices.Contains(q.Stages, w.Stage))
}
