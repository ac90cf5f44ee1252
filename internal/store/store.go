// Package store keeps documents by key, in ConfigMaps of the cluster or in a bucket of NATS JetStream. Which of the
// two, and what to do when it cannot be reached, is for the caller to decide: no store falls back to the other.
package store

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/berthdev/berth/internal/fault"
)

// Document is a value under a key.
type Document struct {
	// Key is made of lower-case letters, digits and dashes.
	Key   string
	Value []byte
	// Labels are set where the store has labels, for other tools. They are not read back.
	Labels map[string]string
	// Annotations are set where the store has annotations, for what admission decides upon,
	// and are read back there. Those that are not given stay as they are in an Update.
	Annotations map[string]string
	// Written is what a store that is the cluster knows of who wrote it; nil in others.
	Written *Written
	// Revision changes with every write. It is empty for a document that does not
	// exist, and otherwise means something only to the store that it came from.
	Revision string
}

// CompareRevisions says which of two revisions of a document was written later, as cmp.Compare
// does; 0 if there is no telling. Both stores count, as the API server does.
func CompareRevisions(a, b string) int {
	order, _ := resourceversion.CompareResourceVersion(a, b) // 0 with an error
	return order
}

// Written is what the API server knows of a document.
type Written struct {
	Created time.Time
	// By is the field manager that changed the value last, and At when; empty if it is not known.
	By string
	At time.Time
}

// Store keeps documents. An error has the code UNAVAILABLE if the store cannot be reached.
type Store interface {
	// Get reads a document; NOT_FOUND if it does not exist or has expired.
	Get(ctx context.Context, key string) (Document, error)
	// List reads all documents that have not expired, in no order.
	List(ctx context.Context) ([]Document, error)
	// Put writes a document whether it exists or not, and returns its revision.
	Put(ctx context.Context, d Document) (revision string, err error)
	// Update writes a document only if it still has d's revision, or does not exist
	// if that is empty; otherwise CONFLICT: read it again, and decide again.
	Update(ctx context.Context, d Document) (revision string, err error)
	// Delete deletes a document, only if it still has that revision (otherwise
	// CONFLICT) unless it is empty. It is not an error if it does not exist.
	Delete(ctx context.Context, key, revision string) error
	// Watch delivers a document as it is now and whenever it changes, or all documents if key is empty, until deliver
	// is done: the newest state of each, not every state, and the same state twice at times. One that is deleted is
	// delivered with an empty revision; expiry is not reported. It goes on after an interruption unless something was
	// missed. The error is NOT_FOUND if there is no document with the key.
	Watch(ctx context.Context, key string, deliver func(Document) (done bool)) error
}

func notFound(key string) error { return fault.New(fault.NotFound, "document %s not found", key) }

func conflict(key string, err error) error {
	return fault.New(fault.Conflict, "document %s was changed by another client: %w", key, err)
}
