package job

import (
	"context"
	"fmt"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
)

// maxRetention is ten years.
const maxRetention = 10 * 365 * 24 * time.Hour

// Retention is how long a record is kept, if nothing else is configured.
const Retention = 48 * time.Hour

// Config says where records are kept.
type Config struct {
	// Store is auto (NATS if it is configured, otherwise the cluster), nats,
	// cluster, or none.
	Store StoreKind `yaml:"store"`
	// Retention is how long records are kept, such as 72h; an existing NATS
	// bucket has its own.
	Retention string           `yaml:"retention"`
	NATS      store.NATSConfig `yaml:"nats"`
}

// StoreKind names a store.
type StoreKind string

// The stores.
const (
	StoreAuto    StoreKind = "auto"
	StoreNATS    StoreKind = "nats"
	StoreCluster StoreKind = "cluster"
	StoreNone    StoreKind = "none"
)

// UsesNATS is true if records are kept in NATS.
func (c Config) UsesNATS() bool {
	return c.Store == StoreNATS || (c.Store == StoreAuto || c.Store == "") && c.NATS.IsSet()
}

// Keep is how long records are kept.
func (c Config) Keep() time.Duration {
	if d, err := time.ParseDuration(c.Retention); err == nil {
		return d
	}
	return Retention
}

// FormatRetention is how long records are kept, as a configuration has it: 48h.
func FormatRetention(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return d.String()
}

// Problems are what is wrong with a configuration, each as a sentence that
// names the key.
func (c Config) Problems() (problems []string) {
	switch c.Store {
	case "", StoreAuto, StoreNATS, StoreCluster, StoreNone:
	default:
		problems = append(problems, fmt.Sprintf("jobs.store %q: must be one of auto, nats, cluster, none", c.Store))
	}
	if c.Store == StoreNATS && !c.NATS.IsSet() {
		problems = append(problems, "jobs.store nats requires jobs.nats.url or jobs.nats.service")
	}
	if d, err := time.ParseDuration(c.Retention); c.Retention != "" &&
		(err != nil || d < time.Minute || d > maxRetention) {
		problems = append(problems, fmt.Sprintf("jobs.retention %q: must be a duration from a minute to ten years, such as 48h", c.Retention))
	}
	return append(problems, c.NATS.Problems("jobs.nats")...)
}

// Selector selects the ConfigMaps of a namespace that are records.
const Selector = kube.LabelJobID + "," + LabelExpires

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
