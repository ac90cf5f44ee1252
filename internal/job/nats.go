package job

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Bucket is the key-value bucket of the records; the key is the job's ID.
const Bucket = "workspace-provision-jobs"

// Put writes a record. It waits for NATS as long as ctx lasts.
func (n *NATS) Put(ctx context.Context, r Record) error {
	text, err := r.Fit(MaxSize).Encode()
	if err != nil {
		return err
	}
	kv, err := n.bucket(ctx)
	if err != nil {
		return err
	}
	_, err = kv.Put(ctx, r.ID, text)
	return n.fault(err)
}

// Get reads one record.
func (n *NATS) Get(ctx context.Context, id string) (Record, error) {
	kv, err := n.bucket(ctx)
	if err != nil {
		return Record{}, err
	}
	entry, err := kv.Get(ctx, id)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return Record{}, notFound(id)
	}
	if err != nil {
		return Record{}, n.fault(err)
	}
	return Decode(entry.Value())
}

// List reads all records.
func (n *NATS) List(ctx context.Context) (records []Record, err error) {
	err = n.each(ctx, jetstream.AllKeys, func(r Record) bool { records = append(records, r); return false }, true)
	return records, err
}

// Watch hands out a record whenever it changes. nats.go goes on by itself after
// an interruption of the connection.
func (n *NATS) Watch(ctx context.Context, id string, deliver func(Record) bool) error {
	if _, err := n.Get(ctx, id); err != nil {
		return err
	}
	return n.each(ctx, id, deliver, false)
}

// each hands out the records of some keys; up to now, or on and on.
func (n *NATS) each(ctx context.Context, keys string, deliver func(Record) bool, upToNow bool) error {
	kv, err := n.bucket(ctx)
	if err != nil {
		return err
	}
	watcher, err := kv.Watch(ctx, keys, jetstream.IgnoreDeletes())
	if err != nil {
		return n.fault(err)
	}
	defer func() { _ = watcher.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return n.fault(ctx.Err())
		case entry, open := <-watcher.Updates():
			switch {
			case !open:
				return n.fault(nats.ErrConnectionClosed)
			case entry == nil && upToNow:
				return nil
			case entry == nil: // what follows is new
				continue
			}
			// One that somebody has spoilt does not hide the others.
			if r, err := Decode(entry.Value()); err == nil && deliver(r) {
				return nil
			}
		}
	}
}

// bucket opens the bucket when it is first needed. One that is there is used as
// it is; otherwise it is made.
func (n *NATS) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	js, err := n.jetStream(ctx)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	kv := n.kv
	n.mu.Unlock()
	if kv != nil {
		return kv, nil
	}
	kv, err = js.KeyValue(ctx, Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: Bucket, Description: "The records of provisioning workspaces", TTL: n.keep, Storage: jetstream.FileStorage,
		})
	}
	if errors.Is(err, jetstream.ErrBucketExists) { // somebody else was faster
		kv, err = js.KeyValue(ctx, Bucket)
	}
	if err != nil {
		return nil, n.fault(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kv = kv
	return kv, nil
}

// jetStream waits until it is known whether there is a connection.
func (n *NATS) jetStream(ctx context.Context) (jetstream.JetStream, error) {
	select {
	case <-n.dialled:
	case <-ctx.Done():
		return nil, n.fault(ctx.Err())
	}
	if n.err != nil {
		return nil, n.err
	}
	select {
	case <-n.told:
	case <-ctx.Done():
		return nil, n.fault(ctx.Err())
	}
	js, err := jetstream.New(n.conn)
	return js, n.fault(err)
}
