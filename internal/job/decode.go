package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// The limits of a record that is read, above those of the records that berth writes.
const (
	maxRead    = 2 * MaxSize // bytes
	maxEntries = 10_000
)

// ReasonUnreadable is the reason of the error of a record that cannot be read.
const ReasonUnreadable = "RECORD_UNREADABLE"

// Decode reads the stored form of the record of a job. Unknown fields are left out.
func Decode(id string, text []byte) (Record, error) {
	r, err := decode(id, text)
	if err != nil {
		return Record{}, fault.New(fault.Failed, "the record of job %s cannot be read: %w", id, err).
			WithReason(ReasonUnreadable)
	}
	return r, nil
}

func decode(id string, text []byte) (r Record, err error) {
	if len(text) > maxRead {
		return r, fmt.Errorf("it is larger than %d KiB", maxRead>>10)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("not JSON of a record: %w", err)
	}
	switch {
	case r.ID != id:
		return r, errors.New("it is not about this job")
	case len(r.Events) > maxEntries:
		return r, fmt.Errorf("it has more than %d entries", maxEntries)
	}
	times := []time.Time{r.CreatedAt, r.UpdatedAt}
	if r.FinishedAt != nil {
		times = append(times, *r.FinishedAt)
	}
	for _, e := range r.Events {
		times = append(times, e.Timestamp)
		if !e.BeganAt.IsZero() {
			times = append(times, e.BeganAt)
		}
	}
	for _, t := range times {
		// In another time zone it may be of a year that cannot be written again.
		if year := t.UTC().Year(); year < 1 || year > 9999 {
			return r, fmt.Errorf("its time %s is out of range", t.Format(time.RFC3339))
		}
	}
	return r, nil
}
