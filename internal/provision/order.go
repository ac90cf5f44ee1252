package provision

import (
	"context"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// Order is a change of what a workspace is meant to be that somebody else has recorded, and
// that is brought about for them. Nothing is recorded then, and nothing is done once there
// is a newer change.
type Order struct {
	Incarnation string
	Changed     lifecycle.Revision
}

// OrderOf is the newest change of a record.
func OrderOf(r lifecycle.Record) Order { return Order{r.Incarnation, r.Changed} }

// reasonSuperseded is the reason of the error of an order that is not the newest any more.
const reasonSuperseded = "SUPERSEDED"

// IsSuperseded is true for the error of an order that is not the newest any more.
func IsSuperseded(err error) bool { return fault.ReasonOf(err) == reasonSuperseded }

// ordered reads the record, with the lock held, and makes sure that the order is its newest.
func (s session) ordered(ctx context.Context) (lifecycle.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	r, err := s.states().Get(ctx, s.id)
	if err == nil && OrderOf(r) != *s.Order {
		err = fault.New(fault.Conflict, "something else is wanted of workspace %s by now", s.id).WithReason(reasonSuperseded)
	}
	return r, err
}
