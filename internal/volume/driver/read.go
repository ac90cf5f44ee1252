//go:build linux

package driver

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/tree"
)

// The driver is what those read who have nothing to do with its pod.
var _ volume.Reader = (*Driver)(nil)

// Find is a volume that the node has, or has had a short time ago.
func (d *Driver) Find(id string) (volume.Volume, bool) {
	if record, known := d.queue.Get(id); known {
		return record.Volume, true
	}
	return d.reads.removed(id)
}

// Read lets do read a volume in its afterlife. Readers choose how long they take, so that a volume is removed all the
// same when it is due.
func (d *Driver) Read(ctx context.Context, id string, do func(context.Context, volume.Files) error) error {
	view, ctx, done, err := d.view(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	defer view.Close()
	err = do(ctx, view)
	if cause := context.Cause(ctx); err != nil && fault.ReasonOf(cause) == volume.ReasonRemoved {
		return cause
	}
	return err // none if it was done before that
}

// view opens a volume in its afterlife, and notes that it is read until it is done. Nobody removes it in between.
func (d *Driver) view(ctx context.Context, id string) (
	view *tree.View, reading context.Context, done func(), err error,
) {
	release, err := d.locks.take(ctx, id)
	if err != nil {
		return nil, nil, nil, err
	}
	defer release()
	record, err := d.waiting(id)
	if err != nil {
		if _, was := d.reads.removed(id); was {
			err = wasRemoved(id)
		}
		return nil, nil, nil, err
	}
	view, err = d.dir.View(record.PodUID, id)
	if errors.Is(err, fs.ErrNotExist) { // something of it could not be removed
		return nil, nil, nil, wasRemoved(id)
	}
	if err != nil {
		return nil, nil, nil, fault.New(fault.Failed, "volume %s cannot be read: %w", id, err)
	}
	reading, done = d.reads.begin(ctx, id)
	return view, reading, done, nil
}

func wasRemoved(id string) error {
	return fault.New(fault.NotFound, "volume %s was removed: its time was over, or the disk was too full", id).
		WithReason(volume.ReasonRemoved).WithHint("berth volume list lists those that are kept")
}

// mostRemoved is how many volumes are remembered that were removed.
const mostRemoved = 1000

// reads are the reads that go on, and the volumes that were removed last.
type reads struct {
	mu    sync.Mutex
	open  map[string]map[*context.CancelCauseFunc]bool
	known map[string]volume.Volume
	order []string // of known, the oldest first
}

// begin notes a read until it is done: its context ends when the volume is removed.
func (r *reads) begin(ctx context.Context, id string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[string]map[*context.CancelCauseFunc]bool{}
	}
	if r.open[id] == nil {
		r.open[id] = map[*context.CancelCauseFunc]bool{}
	}
	r.open[id][&cancel] = true
	return ctx, func() {
		cancel(nil)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.open[id], &cancel)
		if len(r.open[id]) == 0 {
			delete(r.open, id)
		}
	}
}

// end ends the reads of a volume that is about to be removed.
func (r *reads) end(v volume.Volume) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for cancel := range r.open[v.ID] {
		(*cancel)(wasRemoved(v.ID))
	}
}

// forget remembers for a while that a volume was removed.
func (r *reads) forget(v volume.Volume) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string]volume.Volume{}
	}
	if _, again := r.known[v.ID]; !again {
		r.order = append(r.order, v.ID)
	}
	r.known[v.ID] = v
	if len(r.order) > mostRemoved {
		delete(r.known, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
}

// removed is a volume that was removed.
func (r *reads) removed(id string) (v volume.Volume, was bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, was = r.known[id]
	return v, was
}
