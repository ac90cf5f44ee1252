package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
)

// Records keeps the records of the workspaces of a namespace.
type Records struct{ Store store.Store }

// How often a record is read again that others change at the same time, and the pause
// before the first time. Pauses are random: who changes records all the time would be met
// again and again.
const (
	attempts = 20
	pause    = 10 * time.Millisecond
)

// Change changes the record of a workspace to what decide makes of it; one that does not
// exist is empty. What others change at the same time is not lost: decide is asked again.
func (s Records) Change(ctx context.Context, id string, decide func(Record) (Record, error)) (Record, error) {
	for n := 1; ; n++ {
		before, revision, err := s.get(ctx, id)
		if err != nil {
			return Record{}, err
		}
		after, err := decide(before)
		if err != nil || after == before {
			return after, err
		}
		if err = s.put(ctx, after, revision); fault.CodeOf(err) != fault.Conflict || n == attempts {
			return after, err
		}
		select {
		case <-ctx.Done():
			return Record{}, ctx.Err()
		case <-time.After(rand.N(time.Duration(n) * pause)):
		}
	}
}

// get reads a record; an empty one, without a revision, if there is none.
func (s Records) get(ctx context.Context, id string) (Record, string, error) {
	d, err := s.Store.Get(ctx, id)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return Record{}, "", nil
	case err != nil:
		return Record{}, "", err
	}
	r, err := decode(d)
	return r, d.Revision, err
}

// put writes a record if it has that revision still.
func (s Records) put(ctx context.Context, r Record, revision string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("record of workspace %s: %w", r.ID, err)
	}
	labels := map[string]string{kube.LabelCanonicalID: kube.LabelValue(r.ID)}
	_, err = s.Store.Update(ctx, store.Document{Key: r.ID, Value: text, Labels: labels, Revision: revision})
	return err
}

// maxRecord is how large a record can be that is read, in bytes.
const maxRecord = 64 << 10

// decode reads a record. Unknown fields are left out.
func decode(d store.Document) (r Record, err error) {
	damaged := func(format string, args ...any) error {
		return fault.New(fault.Failed, "the record of workspace %s cannot be read: "+format, append([]any{d.Key}, args...)...).
			WithHint("delete the record; the workspace is taken up again as it stands")
	}
	if len(d.Value) > maxRecord {
		return r, damaged("it is larger than %d KiB", maxRecord>>10)
	}
	if err := json.Unmarshal(d.Value, &r); err != nil {
		return r, damaged("%w", err)
	}
	for _, at := range []time.Time{r.CreatedAt, r.DesiredAt, r.ActualAt} {
		if year := at.UTC().Year(); year < 1 || year > 9999 {
			return r, damaged("its time %s is out of range", at.Format(time.RFC3339))
		}
	}
	switch {
	case r.ID != d.Key:
		return r, damaged("it is about workspace %q", r.ID)
	case !r.Desired.Valid():
		return r, damaged("unknown desired state %q", r.Desired)
	case !r.Actual.Reportable() && r.Actual != ActualCreationRequested:
		return r, damaged("unknown actual state %q", r.Actual)
	}
	return r, nil
}
