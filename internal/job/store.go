package job

import (
	"context"

	"github.com/berthdev/berth/internal/fault"
)

// Store keeps records.
type Store interface {
	// Put writes a whole record, over what is there.
	Put(ctx context.Context, r Record) error
	// Get reads one; the error of one that is not there is NOT_FOUND.
	Get(ctx context.Context, id string) (Record, error)
	// List reads all that have not expired, in no order.
	List(ctx context.Context) ([]Record, error)
	// Watch hands out a record as it is and whenever it changes, until deliver
	// says that it is done.
	Watch(ctx context.Context, id string, deliver func(Record) (done bool)) error
}

func notFound(id string) error {
	return fault.New(fault.NotFound, "there is no job %s", id).
		WithHint("`berth jobs` lists those that there are; records are kept for 48 hours if nothing else is configured")
}
