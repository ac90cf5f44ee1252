package job

import (
	"context"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Stores is where a command keeps records and looks for them: one store, and
// beside NATS the cluster, for what could not be written there.
type Stores struct {
	primary Store
	spare   *ConfigMaps // nil where the cluster is the primary one
	cluster ConfigMaps
	nats    *NATS
}

// Open opens what is configured; nil if no records are kept. A connection to
// NATS is made beside whatever else is done. Close ends it.
func Open(ctx context.Context, c Config, client *kube.Client, now func() time.Time) *Stores {
	cluster := ConfigMaps{Client: client, Namespace: client.Namespace, Keep: c.Keep(), Now: now}
	switch c.kind() {
	case StoreNone:
		return nil
	case StoreNATS:
		var dialer Dialer
		if c.NATS.Service.Name != "" {
			dialer = &forward{client: client, service: c.NATS.Service, open: ctx}
		}
		store := OpenNATS(c.NATS, c.Keep(), dialer)
		return withSpare(store, store, cluster)
	}
	return &Stores{primary: cluster, cluster: cluster}
}

func withSpare(primary Store, connection *NATS, cluster ConfigMaps) *Stores {
	spare := cluster
	spare.PendingMove = true
	return &Stores{primary: primary, spare: &spare, cluster: cluster, nats: connection}
}

// Close ends the connection.
func (s *Stores) Close() {
	if s != nil && s.nats != nil {
		s.nats.Close()
	}
}

// late is the error about a write that was not done in time.
func (s *Stores) late() error {
	if s.nats != nil {
		return s.nats.fault(context.DeadlineExceeded)
	}
	return fault.New(fault.Unavailable, "the store does not answer: %w", context.DeadlineExceeded)
}

// in are the same stores for another namespace.
func (s *Stores) in(namespace string) Stores {
	other := *s
	if namespace == "" || namespace == s.cluster.Namespace {
		return other
	}
	other.cluster.Namespace = namespace
	if s.spare == nil {
		other.primary = other.cluster
		return other
	}
	spare := *s.spare
	spare.Namespace = namespace
	other.spare = &spare
	return other
}

// Get reads a record wherever it is; of two, the one that was changed last.
func (s *Stores) Get(ctx context.Context, id string) (Record, error) {
	found, err := s.primary.Get(ctx, id)
	if s.spare == nil || err != nil && fault.CodeOf(err) != fault.NotFound {
		return found, err
	}
	other, otherErr := s.spare.Get(ctx, id)
	if err != nil {
		return other, otherErr
	}
	if otherErr == nil && other.UpdatedAt.After(found.UpdatedAt) {
		found = other
	}
	return found, nil
}

// List reads all records. Where NATS cannot be reached those in the cluster are
// listed, and missing says why there may be more.
func (s *Stores) List(ctx context.Context) (records []Record, missing, err error) {
	if s.spare == nil {
		records, err = s.primary.List(ctx)
		return records, nil, err
	}
	records, missing = s.primary.List(ctx)
	others, err := s.spare.List(ctx)
	if err != nil && missing == nil {
		return records, nil, nil // whoever may read NATS need not read ConfigMaps
	}
	return newest(append(records, others...)), missing, err
}

// newest leaves of records with the same ID the one that was changed last.
func newest(all []Record) []Record {
	at := map[string]int{}
	var kept []Record
	for _, r := range all {
		i, known := at[r.ID]
		switch {
		case !known:
			at[r.ID] = len(kept)
			kept = append(kept, r)
		case r.UpdatedAt.After(kept[i].UpdatedAt):
			kept[i] = r
		}
	}
	return kept
}

// Watch hands out a record as it is and whenever it changes.
func (s *Stores) Watch(ctx context.Context, id string, deliver func(Record) bool) error {
	err := s.primary.Watch(ctx, id, deliver)
	if s.spare != nil && fault.CodeOf(err) == fault.NotFound {
		return s.spare.Watch(ctx, id, deliver)
	}
	return err
}

// Move puts what was written into the cluster for want of NATS where it
// belongs, and says how many records that were.
func (s *Stores) Move(ctx context.Context) (moved int, err error) {
	if s.spare == nil {
		return 0, nil
	}
	pending, err := s.spare.Pending(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range pending {
		there, err := s.primary.Get(ctx, r.ID)
		switch {
		case err != nil && fault.CodeOf(err) != fault.NotFound:
			return moved, err
		case err == nil && !r.UpdatedAt.After(there.UpdatedAt):
			// A run that went on with the job has written more.
		default:
			if err := s.primary.Put(ctx, r); err != nil {
				return moved, err
			}
		}
		if err := s.spare.Delete(ctx, r.ID); err != nil {
			return moved, err
		}
		moved++
	}
	return moved, nil
}
