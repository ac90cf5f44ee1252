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

// List reads the workspaces that match a query, those without pods as well, and what is
// recorded of them, with what a limit will make of each; the limits are those of the
// configuration. What is missing are those without pods that cannot be read; without the
// right to read what there is of them there are none.
func List(ctx context.Context, r inventory.Reader, place lifecycle.Place, limits lifecycle.Limits, q fleet.Query,
	read Read,
) (list *v1.WorkspaceList, missing []error, err error) {
	all := q
	all.Stages = nil                               // what has pods in another stage is not without pods
	if list, err = read(ctx, r, all); err != nil { // not beside it: a login that fails is tried once
		return nil, nil, err
	}
	list.Items, missing = Podless{Reader: r, Place: place, Limits: limits, Query: q}.Add(ctx, list.Items)
	return list, missing, nil
}

// Get reads what is recorded of one workspace; an empty record without the right to read it.
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
// none, or no right to read it. One that cannot be read is an error if no other is meant.
func Find(ctx context.Context, place lifecycle.Place, namespace string, arg inventory.Argument) (lifecycle.Record,
	error,
) {
	var unreadable error
	for _, id := range arg.AllIDs() {
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

// Complete adds to the workspaces that are seen what is recorded of them, and others without
// pods: those that are only recorded, and those that are known otherwise. What does not match
// the query is left out; of what is seen, that is only decided by its stage.
func Complete(seen, others []v1.Workspace, records []lifecycle.Record, limits lifecycle.Limits,
	q fleet.Query,
) []v1.Workspace {
	left := make(map[key]lifecycle.Record, len(records))
	for _, r := range records {
		left[key{r.Namespace, r.ID}] = r
	}
	all := make([]v1.Workspace, 0, len(seen)+len(others)+len(records))
	for _, w := range seen {
		r := left[keyOf(w)]
		delete(left, keyOf(w))
		if isIn(q.Stages, w.Stage) {
			all = append(all, Due(With(w, r), r, limits))
		}
	}
	for _, r := range left {
		others = append(others, Due(Of(r, r.Namespace), r, limits))
	}
	for _, w := range others {
		if matches(w, q) {
			all = append(all, w)
		}
	}
	fleet.Sort(all, fleet.ByDefault)
	return all
}

// matches is true for a workspace without pods that is meant. It has no labels.
func matches(w v1.Workspace, q fleet.Query) bool {
	is := func(values []string, value string) bool {
		return len(values) == 0 || slices.ContainsFunc(values,
			func(v string) bool { return strings.EqualFold(v, value) })
	}
	return q.Labels == "" && q.IsOwned(w) && is(q.Blueprints, w.Blueprint) && isIn(q.Stages, w.Stage) &&
		(q.Kept || !w.Kept)
}

func isIn(stages []v1.Stage, stage v1.Stage) bool {
	return len(stages) == 0 || slices.Contains(stages, stage)
}

// Due adds to a workspace what a limit will make of it, and when: that of its blueprint, or
// of the configuration. Of one without a record nothing is known.
func Due(w v1.Workspace, r lifecycle.Record, configured lifecycle.Limits) v1.Workspace {
	next, ok := configured.For(r).Next(r)
	if w.State == nil || !ok || !printable(next.At) {
		return w
	}
	state := *w.State
	state.Next = &v1.NextState{
		Desired: next.Desired, Limit: next.Limit, From: v1.LimitOfConfiguration,
		At: next.At.UTC(),
	}
	if r.Limits.Has(next.Limit) {
		state.Next.From = v1.LimitOfBlueprint
	}
	w.State = &state
	return w
}

// printable reports whether a time can be written into a document: a record can have any.
func printable(at time.Time) bool { return at.UTC().Year() <= 9999 }
