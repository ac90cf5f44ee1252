package job

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
)

// Where records are: the bucket of NATS, and the labels of ConfigMaps.
const (
	Bucket = "workspace-provision-jobs"

	// LabelExpires is when the record expires, in seconds since 1970.
	LabelExpires = "k8shell.io/job-expires"
	// LabelPendingMove is on what could not be written to NATS.
	LabelPendingMove = "k8shell.io/job-pending-move"
)

// Selector selects the ConfigMaps of a namespace that are records.
const Selector = kube.LabelJobID + "," + LabelExpires

// Stores is where a command keeps records and looks for them: NATS or the cluster,
// and with NATS also the cluster, for what could not be written there.
type Stores struct {
	nats       store.Store // nil if records are kept in the cluster
	connection *store.NATS
	cluster    store.ConfigMaps
}

// Open opens what is configured; nil if no records are kept. A connection to NATS is made in the background, through
// the API server as long as ctx lasts. Close ends it.
func Open(ctx context.Context, c Config, client *kube.Client, now func() time.Time) *Stores {
	s := &Stores{cluster: configMaps(client, client.Namespace, c.Keep(), now)}
	switch {
	case c.Store == StoreNone:
		return nil
	case c.UsesNATS():
		setting := store.Setting{Key: "jobs.nats", Without: "set jobs.store to cluster"}
		s.connection = store.OpenNATS(c.NATS, setting, store.Forward(ctx, client, c.NATS.Service))
		s.nats = s.connection.Bucket(Bucket, "The records of provisioning workspaces", c.Keep())
	}
	return s
}

func configMaps(client kube.Interface, namespace string, keep time.Duration, now func() time.Time) store.ConfigMaps {
	return store.ConfigMaps{
		Client: client, Namespace: namespace, NamePrefix: "k8shell-job-", DataKey: "record",
		KeyLabel: kube.LabelJobID, ExpiryLabel: LabelExpires, Keep: keep, Now: now,
	}
}

// Close ends the connection.
func (s *Stores) Close() {
	if s != nil && s.connection != nil {
		s.connection.Close()
	}
}

// CleanUp removes what has expired in the cluster, and moves to NATS what waits for it.
func (s *Stores) CleanUp(ctx context.Context) {
	if s != nil {
		_ = s.cluster.Sweep(ctx)
		_, _ = s.Move(ctx)
	}
}

// pending are the records that wait in the cluster for NATS.
func (s *Stores) pending() store.ConfigMaps {
	waiting := s.cluster
	waiting.Labels = map[string]string{LabelPendingMove: "true"}
	return waiting
}

// Move moves the records that wait in the cluster to NATS, and returns how many.
func (s *Stores) Move(ctx context.Context) (moved int, err error) {
	if s.nats == nil {
		return 0, nil
	}
	waiting, err := s.pending().List(ctx)
	if err != nil {
		return 0, err
	}
	for _, d := range waiting {
		record, err := Decode(d.Key, d.Value)
		if err != nil {
			continue // a damaged record stays
		}
		err = s.move(ctx, d, record)
		switch {
		case err == nil:
			moved++
		case fault.CodeOf(err) != fault.Conflict: // else another command is moving it
			return moved, err
		}
	}
	return moved, nil
}

func (s *Stores) move(ctx context.Context, waiting store.Document, record Record) error {
	there, err := s.nats.Get(ctx, waiting.Key)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	// A run that went on with the job may have written more.
	if known, err := Decode(waiting.Key, there.Value); err != nil || record.UpdatedAt.After(known.UpdatedAt) {
		if _, err := s.nats.Update(ctx,
			store.Document{Key: waiting.Key, Value: waiting.Value, Revision: there.Revision}); err != nil {
			return err
		}
	}
	return s.cluster.Delete(ctx, waiting.Key, waiting.Revision)
}

// Retention is how long records are kept, as far as that is known: an existing bucket of NATS
// has an age of its own, which may be for ever.
func (s *Stores) Retention(ctx context.Context) (keep time.Duration, known bool) {
	if s.nats == nil {
		return s.cluster.Keep, true
	}
	p, err := s.Probe(ctx)
	switch {
	case err != nil:
		return 0, false
	case !p.Exists:
		return s.cluster.Keep, true
	}
	return p.Keep, p.Keep > 0
}

// Connection is the one to NATS; nil if records are not kept there.
func (s *Stores) Connection() *store.NATS {
	if s == nil {
		return nil
	}
	return s.connection
}

// Probe looks at NATS, if records are kept there.
func (s *Stores) Probe(ctx context.Context) (store.Probe, error) {
	if bucket, ok := s.nats.(*store.Bucket); ok {
		return bucket.Probe(ctx)
	}
	return store.Probe{}, nil
}

// maxSize is how large a record may be where it belongs.
func (s *Stores) maxSize() int {
	if s.nats != nil {
		return maxSizeNATS
	}
	return MaxSize
}

func (s *Stores) primary() store.Store {
	if s.nats != nil {
		return s.nats
	}
	return s.cluster
}

// Get reads a record, and whether anybody still works on the job.
func (s *Stores) Get(ctx context.Context, id string) (Record, error) {
	found, err := s.read(ctx, id)
	if err != nil {
		return found, err
	}
	one := []Record{found}
	s.markAbandoned(ctx, one)
	return one[0], nil
}

// read reads a record wherever it is; of two, the one that was changed last.
func (s *Stores) read(ctx context.Context, id string) (Record, error) {
	found, err := get(ctx, s.primary(), id)
	if s.nats == nil || err != nil && fault.CodeOf(err) != fault.NotFound {
		return found, err
	}
	other, otherErr := get(ctx, s.cluster, id)
	if err != nil {
		return other, otherErr
	}
	if otherErr == nil && other.UpdatedAt.After(found.UpdatedAt) {
		found = other
	}
	return found, nil
}

func get(ctx context.Context, from store.Store, id string) (Record, error) {
	d, err := from.Get(ctx, id)
	if err != nil {
		return Record{}, named(err, id)
	}
	r, err := Decode(id, d.Value)
	if err != nil {
		return Record{}, fault.From(err).WithHint("%s", howToDelete(from, id))
	}
	return r, nil
}

// howToDelete is how a record is deleted that cannot be read. It would expire, too.
func howToDelete(from store.Store, id string) string {
	if c, ok := from.(store.ConfigMaps); ok {
		return fmt.Sprintf("delete it: kubectl delete configmap %s --namespace %s", c.NamePrefix+id, c.Namespace)
	}
	return fmt.Sprintf("delete it: nats kv del %s %s", Bucket, id)
}

// named replaces the error of a document that does not exist.
func named(err error, id string) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return notFound(id)
}

// List reads all records. If NATS cannot be reached, those in the cluster are
// listed, and missing says why there may be more.
func (s *Stores) List(ctx context.Context) (records []Record, missing, err error) {
	if s.nats == nil {
		records, err = list(ctx, s.cluster)
		s.markAbandoned(ctx, records)
		return records, nil, err
	}
	records, missing = list(ctx, s.nats)
	others, err := list(ctx, s.cluster)
	if err != nil && missing == nil { // a user of NATS need not be allowed to read ConfigMaps
		s.markAbandoned(ctx, records)
		return records, nil, nil
	}
	newest := map[string]Record{}
	for _, r := range append(records, others...) {
		if known, ok := newest[r.ID]; !ok || r.UpdatedAt.After(known.UpdatedAt) {
			newest[r.ID] = r
		}
	}
	records = slices.Collect(maps.Values(newest))
	s.markAbandoned(ctx, records)
	return records, missing, err
}

func list(ctx context.Context, from store.Store) (records []Record, err error) {
	documents, err := from.List(ctx)
	for _, d := range documents {
		if r, err := Decode(d.Key, d.Value); err == nil { // a damaged record does not hide the others
			records = append(records, r)
		}
	}
	return records, err
}

// Follow calls show with a record as it grows, until the job has ended or no command
// works on it any more, and returns the last one.
func (s *Stores) Follow(ctx context.Context, id string, now func() time.Time, show func(Record)) (last Record,
	err error,
) {
	if r, err := s.Get(ctx, id); err == nil && r.abandoned {
		show(r)
		return r, nil
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	quiet := time.AfterFunc(silence, stop)
	defer quiet.Stop()
	var damaged error
	deliver := func(d store.Document) (done bool) {
		if d.Revision == "" {
			return false // deleted: the command that works on the job writes it again
		}
		r, err := Decode(d.Key, d.Value)
		if err != nil {
			damaged = err
			return true
		}
		last = r
		show(r)
		// The age of what is read first is by another clock; afterwards it is this one's.
		quiet.Reset(max(silence-now().Sub(r.UpdatedAt), heartbeat/4))
		return r.Status == v1.JobStatusCompleted
	}
	err = s.primary().Watch(watching, id, deliver)
	if s.nats != nil && fault.CodeOf(err) == fault.NotFound {
		err = s.cluster.Watch(watching, id, deliver)
	}
	if watching.Err() != nil && ctx.Err() == nil {
		return last, nil // it was quiet for too long
	}
	return last, cmp.Or(named(err, id), damaged)
}
