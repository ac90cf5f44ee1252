package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
)

// Records keeps the records of the workspaces of a namespace.
type Records struct{ Store store.Store }

// How often a record is read again that others change at the same time, and the pause
// before the first time. Pauses are random: a client that changes records all the time would be met
// again and again.
const (
	attempts = 20
	pause    = 10 * time.Millisecond
)

// Change changes the record of a workspace to what decide makes of it; one that does not
// exist is empty. What others change at the same time is not lost: decide is asked again.
func (s Records) Change(ctx context.Context, id string, decide func(Record) (Record, error)) (Record, error) {
	known, err := s.Get(ctx, id)
	if err != nil {
		return Record{}, err
	}
	return s.ChangeFrom(ctx, id, known, decide)
}

// ChangeFrom is Change by somebody who has read the record, or written it, before.
func (s Records) ChangeFrom(ctx context.Context, id string, known Record,
	decide func(Record) (Record, error),
) (Record, error) {
	for n := 1; ; n++ {
		after, err := decide(known)
		if err != nil || reflect.DeepEqual(after, known) {
			return after, err
		}
		after.version = known.version
		if after, err = s.author(ctx, after); fault.CodeOf(err) != fault.Conflict || n == attempts {
			return after, err
		}
		select {
		case <-ctx.Done():
			return Record{}, ctx.Err()
		case <-time.After(rand.N(time.Duration(n) * pause)):
		}
		if known, err = s.Get(ctx, id); err != nil {
			return Record{}, err
		}
	}
}

// Get reads a record; an empty one if there is none.
func (s Records) Get(ctx context.Context, id string) (Record, error) {
	d, err := s.Store.Get(ctx, id)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return Record{}, nil
	case err != nil:
		return Record{}, err
	}
	return decode(d)
}

// List reads all records; damaged are those that cannot be read.
func (s Records) List(ctx context.Context) (all []Record, damaged []error, err error) {
	documents, err := s.Store.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range documents {
		r, err := decode(d)
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		all = append(all, r)
	}
	return all, damaged, nil
}

// Watch delivers each record by its key, as it is and whenever it changes; an empty one is
// deleted. What cannot be read is left out. The namespace is that of the records, empty for
// all.
func (s Records) Watch(ctx context.Context, namespace string, deliver func(key string, r Record)) error {
	return s.Store.Watch(ctx, "", func(d store.Document) (done bool) {
		key := Key(namespace, d.Key)
		if d.Revision == "" {
			deliver(key, Record{})
		} else if r, err := decode(d); err == nil {
			deliver(key, r)
		}
		return false
	})
}

// Delete deletes a record if it has not changed since it was read.
func (s Records) Delete(ctx context.Context, r Record) error {
	return s.Store.Delete(ctx, r.ID, r.version)
}

// put writes a record if it has not changed since it was read, and returns it as it is then.
func (s Records) put(ctx context.Context, r Record, author bool) (Record, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return r, fmt.Errorf("record of workspace %s: %w", r.ID, err)
	}
	beside, err := r.annotations(author)
	if err != nil {
		return r, err
	}
	r.version, err = s.Store.Update(ctx, store.Document{
		Key: r.ID, Value: text, Annotations: beside,
		Revision: r.version,
	})
	return r, err
}

// ReasonUnreadable is the reason of the error of a record that cannot be read.
const ReasonUnreadable = "RECORD_UNREADABLE"

// where is what to delete of a record that cannot be read.
func where(key string) string {
	return "the ConfigMap " + namePrefix + key + ", or the key " + key + " of the NATS bucket " + Bucket
}

// maxRecord is how large a record can be that is read, in bytes.
const maxRecord = 512 << 10

// decode reads a record. Unknown fields are left out.
func decode(d store.Document) (r Record, err error) {
	damaged := func(format string, args ...any) error {
		return fault.New(fault.Failed, "the record of workspace %s cannot be read: "+format,
			append([]any{d.Key}, args...)...).
			WithHint("`berth delete` deletes it with the workspace; to keep that, delete %s, and start the workspace",
				where(d.Key)).
			WithReason(ReasonUnreadable)
	}
	if len(d.Value) > maxRecord {
		return r, damaged("it is larger than %d KiB", maxRecord>>10)
	}
	if err := json.Unmarshal(d.Value, &r); err != nil {
		return r, damaged("%w", err)
	}
	r = r.believe(d)
	for _, at := range []time.Time{r.CreatedAt, r.DesiredAt, r.ActualAt} {
		if year := at.UTC().Year(); year < 1 || year > 9999 {
			return r, damaged("its time %s is out of range", at.Format(time.RFC3339))
		}
	}
	if err := r.Limits.check(); err != nil {
		return r, damaged("%w", err)
	}
	switch {
	case r.ID != d.Key && r.Namespace+"."+r.ID != d.Key:
		return r, damaged("it is about workspace %q", r.ID)
	case !isDesired(r.Desired):
		return r, damaged("unknown desired state %q", r.Desired)
	case !isReportable(r.Actual) && r.Actual != v1.ActualCreationRequested:
		return r, damaged("unknown actual state %q", r.Actual)
	}
	r.version = d.Revision
	return r, nil
}

// Where records are: the bucket of NATS, in which the key is NAMESPACE.ID, and the label of
// ConfigMaps. They are kept for ever.
const (
	Bucket = "workspace-states"
	Label  = "berth.dev/state-of"

	namePrefix = "berth-state-"
)

// Place is where the records of all namespaces are kept: in NATS if there is a connection,
// otherwise in each namespace of the cluster. A store that cannot be reached is never
// replaced by the other one.
type Place struct {
	Client *kube.Client
	NATS   *store.NATS
}

// Of are the records of a namespace; those of all namespaces, which can only be listed, if
// it is empty.
func (p Place) Of(namespace string) Records {
	if p.NATS != nil {
		bucket := p.NATS.Bucket(Bucket, "What workspaces are meant to be", 0)
		if namespace != "" {
			bucket = bucket.Under(namespace)
		}
		return Records{Store: bucket}
	}
	return Records{Store: store.ConfigMaps{
		Client: p.Client, Namespace: namespace, NamePrefix: namePrefix, DataKey: "record", KeyLabel: Label,
	}}
}
