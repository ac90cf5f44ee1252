package job

import (
	"fmt"
	"time"

	"github.com/berthdev/berth/internal/store"
)

// maxRetention is ten years.
const maxRetention = 10 * 365 * 24 * time.Hour

// Retention is how long a record is kept, if nothing else is configured.
const Retention = 48 * time.Hour

// Config says where records are kept.
type Config struct {
	// Store is auto (NATS if it is configured, otherwise the cluster), nats, cluster, or none.
	Store StoreKind `yaml:"store"`
	// Retention is how long records are kept, such as 72h; an existing NATS bucket has its own.
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

// Problems are what is wrong with a configuration, each as a sentence that names the key.
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
		problems = append(problems, fmt.Sprintf("jobs.retention %q: must be a duration from a minute to ten "+
			"years, such as 48h", c.Retention))
	}
	return append(problems, c.NATS.Problems("jobs.nats")...)
}
