package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/berthdev/berth/internal/fault"
)

// Bucket is a store in a key-value bucket of NATS JetStream. A call waits for the
// connection as long as its context lasts.
type Bucket struct {
	nats        *NATS
	name, about string
	keep        time.Duration
	prefix      string // of all keys, with a dot at its end; empty for none

	kv atomic.Pointer[jetstream.KeyValue] // nil until it is first needed
}

// Bucket is the bucket of that name. One that exists is used as it is; otherwise the first use creates it, for
// documents that are kept for a time, or for ever if that is zero.
func (n *NATS) Bucket(name, about string, keep time.Duration) *Bucket {
	return &Bucket{nats: n, name: name, about: about, keep: keep}
}

// Under is the part of the bucket whose keys begin with a token, which has no dots, and a dot.
func (b *Bucket) Under(token string) *Bucket {
	return &Bucket{nats: b.nats, name: b.name, about: b.about, keep: b.keep, prefix: token + "."}
}

// Put writes a document, whether it exists or not.
func (b *Bucket) Put(ctx context.Context, d Document) (string, error) {
	return b.write(ctx, d.Key, func(kv jetstream.KeyValue) (uint64, error) {
		return kv.Put(ctx, b.prefix+d.Key, d.Value)
	})
}

// Update writes a document if it has not changed.
func (b *Bucket) Update(ctx context.Context, d Document) (string, error) {
	return b.write(ctx, d.Key, func(kv jetstream.KeyValue) (uint64, error) {
		if d.Revision == "" {
			return kv.Create(ctx, b.prefix+d.Key, d.Value)
		}
		return kv.Update(ctx, b.prefix+d.Key, d.Value, number(d.Revision))
	})
}

func (b *Bucket) write(ctx context.Context, key string,
	call func(jetstream.KeyValue) (uint64, error),
) (revision string, err error) {
	err = b.use(ctx, key, func(kv jetstream.KeyValue) error {
		n, err := call(kv)
		revision = strconv.FormatUint(n, 10)
		return err
	})
	return revision, err
}

// number is a revision as NATS has it.
func number(revision string) uint64 {
	n, _ := strconv.ParseUint(revision, 10, 64) // 0 is a conflict
	return n
}

// Get reads a document.
func (b *Bucket) Get(ctx context.Context, key string) (d Document, err error) {
	err = b.use(ctx, key, func(kv jetstream.KeyValue) error {
		entry, err := kv.Get(ctx, b.prefix+key)
		if err == nil {
			d = b.document(entry)
		}
		return err
	})
	return d, err
}

// Delete deletes a document.
func (b *Bucket) Delete(ctx context.Context, key, revision string) error {
	var options []jetstream.KVDeleteOpt
	if revision != "" {
		options = append(options, jetstream.LastRevision(number(revision)))
	}
	err := b.use(ctx, key, func(kv jetstream.KeyValue) error { return kv.Delete(ctx, b.prefix+key, options...) })
	if fault.CodeOf(err) == fault.Conflict {
		if _, getErr := b.Get(ctx, key); fault.CodeOf(getErr) == fault.NotFound {
			return nil
		}
	}
	return err
}

// List reads all documents.
func (b *Bucket) List(ctx context.Context) (documents []Document, err error) {
	err = b.each(ctx, b.prefix+jetstream.AllKeys, false, func(d Document) bool {
		documents = append(documents, d)
		return false
	})
	return documents, err
}

// Watch delivers what changes.
func (b *Bucket) Watch(ctx context.Context, key string, deliver func(Document) (done bool)) error {
	if key == "" {
		return b.each(ctx, b.prefix+jetstream.AllKeys, true, deliver)
	}
	if _, err := b.Get(ctx, key); err != nil { // of a pattern, too
		return err
	}
	return b.each(ctx, b.prefix+key, true, deliver)
}

// each delivers the documents of some keys as they are, and then as they change if they are followed.
func (b *Bucket) each(ctx context.Context, keys string, follow bool, deliver func(Document) (done bool)) error {
	return b.use(ctx, keys, func(kv jetstream.KeyValue) error {
		reconnected := b.nats.conn.StatusChanged(nats.CONNECTED)
		defer b.nats.conn.RemoveStatusListener(reconnected)
		watcher, err := kv.Watch(ctx, keys)
		if err != nil {
			return err
		}
		defer func() { _ = watcher.Stop() }()
		for following := false; ; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-reconnected:
				if !following {
					continue
				}
				// The server may have forgotten the watch, which nats.go notices much later.
				if again, err := kv.Watch(ctx, keys); err == nil {
					_ = watcher.Stop()
					watcher = again
				}
			case entry, open := <-watcher.Updates():
				switch {
				case !open:
					return nats.ErrConnectionClosed
				case entry == nil && !follow:
					return nil
				case entry == nil:
					following = true
				case !following && entry.Operation() != jetstream.KeyValuePut: // deleted before
				case deliver(b.document(entry)):
					return nil
				}
			}
		}
	})
}

// document is an entry's; of a deleted one without a revision.
func (b *Bucket) document(entry jetstream.KeyValueEntry) Document {
	key := strings.TrimPrefix(entry.Key(), b.prefix)
	if entry.Operation() != jetstream.KeyValuePut {
		return Document{Key: key}
	}
	return Document{Key: key, Value: entry.Value(), Revision: strconv.FormatUint(entry.Revision(), 10)}
}

// use opens the bucket for a call when it is first needed, and creates it if it does not exist.
func (b *Bucket) use(ctx context.Context, key string, call func(jetstream.KeyValue) error) error {
	kv, err := b.open(ctx)
	if err == nil {
		err = call(kv)
	}
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrInvalidKey):
		return notFound(key)
	case errors.Is(err, jetstream.ErrKeyExists), errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return conflict(key, err)
	}
	return b.fault(err)
}

func (b *Bucket) open(ctx context.Context) (jetstream.KeyValue, error) {
	if kv := b.kv.Load(); kv != nil {
		return *kv, nil
	}
	js, err := b.nats.jetStream(ctx)
	if err != nil {
		return nil, err
	}
	kv, err := js.KeyValue(ctx, b.name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = js.CreateKeyValue(ctx,
			jetstream.KeyValueConfig{Bucket: b.name, Description: b.about, TTL: b.keep, Storage: jetstream.FileStorage})
	}
	if errors.Is(err, jetstream.ErrBucketExists) { // another client was faster
		kv, err = js.KeyValue(ctx, b.name)
	}
	if err == nil {
		b.kv.Store(&kv)
	}
	return kv, err
}

// Probe is what can be seen of a bucket without changing anything.
type Probe struct {
	// Address is NATS' URL, without secrets.
	Address string
	// Exists is true if there is the bucket; then Keep is how long it keeps a
	// document, zero for ever, and Documents how many it has.
	Exists    bool
	Keep      time.Duration
	Documents uint64
}

// Probe connects, logs in and looks at the bucket.
func (b *Bucket) Probe(ctx context.Context) (Probe, error) {
	p := Probe{Address: b.nats.config.address()}
	js, err := b.nats.jetStream(ctx)
	if err != nil {
		return p, b.fault(err)
	}
	kv, err := js.KeyValue(ctx, b.name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return p, nil
	}
	if err == nil {
		var status jetstream.KeyValueStatus
		if status, err = kv.Status(ctx); err == nil {
			p.Exists, p.Keep, p.Documents = true, status.TTL(), status.Values()
		}
	}
	return p, b.fault(err)
}
