package job

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Probe is what can be seen of NATS without changing anything.
type Probe struct {
	// Address is the URL, without secrets.
	Address string
	// Made is true if the bucket is there; then TTL is how long it keeps a record,
	// zero for ever, and Records how many it has.
	Made    bool
	TTL     time.Duration
	Records uint64
}

// Probe connects, logs in and looks at the bucket.
func (n *NATS) Probe(ctx context.Context) (Probe, error) {
	p := Probe{Address: n.name}
	js, err := n.jetStream(ctx)
	if err != nil {
		return p, err
	}
	kv, err := js.KeyValue(ctx, Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return p, nil
	}
	if err != nil {
		return p, n.fault(err)
	}
	status, err := kv.Status(ctx)
	if err != nil {
		return p, n.fault(err)
	}
	p.Made, p.TTL, p.Records = true, status.TTL(), status.Values()
	return p, nil
}

// Probe looks at NATS; ok is false if no records are kept there.
func (s *Stores) Probe(ctx context.Context) (p Probe, ok bool, err error) {
	if s == nil || s.nats == nil {
		return Probe{}, false, nil
	}
	p, err = s.nats.Probe(ctx)
	return p, true, err
}
