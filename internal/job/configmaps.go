package job

import (
	"context"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
)

// Selector selects the ConfigMaps of a namespace that are records.
const Selector = kube.LabelJobID + "," + LabelExpires

func configMaps(client kube.Interface, namespace string, keep time.Duration, now func() time.Time) store.ConfigMaps {
	return store.ConfigMaps{
		Client: client, Namespace: namespace, NamePrefix: "k8shell-job-", DataKey: "record",
		KeyLabel: kube.LabelJobID, ExpiryLabel: LabelExpires, Keep: keep, Now: now,
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

// Counts are how many records there are in a namespace of the cluster.
type Counts struct {
	// Kept have not expired. Expired are deleted by the next command that writes
	// there.
	Kept, Expired int
	// Pending are those of Kept that wait for NATS.
	Pending int
}

// Count counts records by the labels of their ConfigMaps.
func Count(labels []map[string]string, now time.Time) (c Counts) {
	for _, l := range labels {
		switch {
		case store.Expired(l[LabelExpires], now):
			c.Expired++
			continue
		case l[LabelPendingMove] != "":
			c.Pending++
		}
		c.Kept++
	}
	return c
}
