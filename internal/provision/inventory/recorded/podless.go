package recorded

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
)

// Podless finds the workspaces that match a query and have no pods: by what is recorded of
// them, by Helm's records and by their claims. The limits are those of the configuration.
type Podless struct {
	Reader inventory.Reader
	Place  lifecycle.Place
	Limits lifecycle.Limits
	Query  fleet.Query
}

type key struct{ namespace, id string }

func keyOf(w v1.Workspace) key { return key{w.Namespace, w.ID} }

// found is what there is of workspaces beside their pods.
type found struct {
	records      []lifecycle.Record
	damaged      []error // of records that cannot be read
	belongings   *fleet.Belongings
	recordErr    error
	belongingErr error
}

// read lists it, side by side.
func (p Podless) read(ctx context.Context) (f found) {
	var group errgroup.Group
	group.Go(func() error {
		f.records, f.damaged, f.recordErr = p.records(ctx)
		return nil
	})
	read := fleet.ReadBelongings
	if p.Query.Installed {
		read = fleet.ReadRecords
	}
	if p.Query.Labels == "" { // a workspace without a pod has no labels
		group.Go(func() error {
			f.belongings, f.belongingErr = read(ctx, p.Reader, p.Query.Namespace)
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	return f
}

// others describes those that are neither seen nor recorded.
func (f *found) others(ctx context.Context, seen []v1.Workspace) (all []v1.Workspace) {
	if f.belongings != nil && f.belongingErr == nil {
		all, f.belongingErr = f.belongings.Podless(ctx, KnownIn(seen, f.records))
	}
	return all
}

// Add is Complete with what there is now; seen are all that have pods and match the query, in
// whatever stage. What is missing are those that cannot be read. What the caller may not list
// says nothing.
func (p Podless) Add(ctx context.Context, seen []v1.Workspace) (all []v1.Workspace, missing []error) {
	f := p.read(ctx)
	others := f.others(ctx, seen)
	missing = f.damaged
	for _, err := range []error{f.recordErr, f.belongingErr} {
		if err != nil && fault.CodeOf(err) != fault.PermissionDenied {
			missing = append(missing, err)
		}
	}
	return Complete(seen, others, f.records, p.Limits, p.Query), missing
}

// Count gives all that match the query, with pods or without, for a limit: that pods or records
// cannot be listed is an error. Claims, or Helm's records, that the caller may not list are not
// counted, so that there are at least these.
func (p Podless) Count(ctx context.Context) ([]v1.Workspace, error) {
	var seen *v1.WorkspaceList
	var group errgroup.Group
	group.Go(func() (err error) {
		seen, err = fleet.Names(ctx, p.Reader, p.Query)
		return err
	})
	f := p.read(ctx)
	for _, err := range []error{group.Wait(), f.recordErr} {
		if err != nil {
			return nil, err
		}
	}
	others := f.others(ctx, seen.Items)
	return Complete(seen.Items, others, f.records, p.Limits, p.Query), f.belongingErr
}

// AddToSome is Add where those that are seen are only in the stages that are asked for.
func (p Podless) AddToSome(ctx context.Context, seen []v1.Workspace) (all []v1.Workspace, missing []error) {
	if len(p.Query.Stages) == 0 {
		return p.Add(ctx, seen)
	}
	query := p.Query
	query.Stages = nil
	there, err := fleet.Names(ctx, p.Reader, query)
	if err != nil {
		return seen, []error{err}
	}
	met := KnownIn(seen, nil)
	others := slices.DeleteFunc(there.Items, func(w v1.Workspace) bool { return met(w.Namespace, w.ID) })
	isOther := KnownIn(others, nil)
	all, missing = p.Add(ctx, append(slices.Clone(seen), others...))
	return slices.DeleteFunc(all, func(w v1.Workspace) bool { return isOther(w.Namespace, w.ID) }), missing
}

// records are those of workspaces of which something is left, or should be.
func (p Podless) records(ctx context.Context) (records []lifecycle.Record, damaged []error, err error) {
	if p.Place.Client == nil {
		return nil, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	records, damaged, err = p.Place.Of(p.Query.Namespace).List(ctx)
	return slices.DeleteFunc(records, lifecycle.Record.Done), damaged, err
}

// KnownIn is true for what is seen or recorded.
func KnownIn(seen []v1.Workspace, records []lifecycle.Record) func(namespace, id string) bool {
	known := map[key]bool{}
	for _, w := range seen {
		known[keyOf(w)] = true
	}
	for _, r := range records {
		known[key{r.Namespace, r.ID}] = true
	}
	return func(namespace, id string) bool { return known[key{namespace, id}] }
}

// settling is how long Helm's record of a workspace that is being deleted may outlive its pod.
const settling = time.Second

// InsteadOfGone are workspaces as they have changed. One whose pod is gone because it was stopped
// is Stopped; one that is installed all the same, or meant to run, can be started. What is not
// known of one is not said: it is gone.
func (p Podless) InsteadOfGone(ctx context.Context, changed []v1.Workspace) []v1.Workspace {
	unrecorded := map[key]int{}
	for i, w := range changed {
		if !w.Gone {
			continue
		}
		r, err := Get(ctx, p.Place, w.Namespace, w.ID)
		switch {
		case err != nil:
		case r.ID == "":
			unrecorded[keyOf(w)] = i
		case r.Desired == v1.DesiredStopped, r.Desired == v1.DesiredRunning:
			changed[i] = Due(Of(r, w.Namespace), r, p.Limits)
		}
	}
	if len(unrecorded) == 0 || len(p.installed(ctx, unrecorded)) == 0 {
		return changed
	}
	select { // a deletion deletes the record last
	case <-ctx.Done():
		return changed
	case <-time.After(settling):
	}
	for _, w := range p.installed(ctx, unrecorded) {
		changed[unrecorded[keyOf(w)]] = w
	}
	return changed
}

// installed are those of the workspaces that are installed and can be started.
func (p Podless) installed(ctx context.Context, those map[key]int) []v1.Workspace {
	some := make([]v1.Workspace, 0, len(those))
	for k := range those {
		some = append(some, v1.Workspace{Namespace: k.namespace, ID: k.id})
	}
	all, err := fleet.Installed(ctx, p.Reader, p.Query.Namespace, some)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(w v1.Workspace) bool { return !w.Startable })
}
