package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Record is one change in a recorded history. Without an object it is a moment
// at which nothing was said.
type Record struct {
	At     time.Time
	Type   watch.EventType
	Object runtime.Object
}

// Replay applies a history change by change and hands out each reading, also
// those that time alone brings about between two changes.
func Replay(subject Subject, history []Record, p cause.Policy, see func(at time.Time, s v1.Snapshot)) {
	state := NewState(subject)
	var next time.Time
	for _, r := range history {
		for !next.IsZero() && next.Before(r.At) {
			now := next
			var snapshot v1.Snapshot
			snapshot, next = Analyze(state, p, now)
			see(now, snapshot)
			if !next.After(now) {
				break
			}
		}
		if r.Object != nil {
			state = state.Apply(r.Type, r.Object)
		}
		var snapshot v1.Snapshot
		snapshot, next = Analyze(state, p, r.At)
		see(r.At, snapshot)
	}
}

// latestTime is the last second that RFC 3339 has a year for.
const latestTime = 253402300799

// ReadRecord reads a change as a watch reports it, {"type", "object"}. Its time, "at",
// is zero if it has none. Bookmarks, errors of the watch and objects of kinds that are
// not built in are not known here.
func ReadRecord(text []byte) (record Record, known bool, err error) {
	var raw struct {
		At     *float64        `json:"at"`
		Type   watch.EventType `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return Record{}, false, err
	}
	switch raw.Type {
	case watch.Added, watch.Modified, watch.Deleted:
	case watch.Bookmark, watch.Error:
		return Record{}, false, nil
	default:
		return Record{}, false, fmt.Errorf("type %q: must be one of ADDED, MODIFIED, DELETED", raw.Type)
	}
	record.Type = raw.Type
	switch {
	case raw.At == nil:
	case *raw.At < 0 || *raw.At > latestTime:
		return Record{}, false, fmt.Errorf(`invalid "at" %v: must be a time in seconds since 1970`, *raw.At)
	default:
		record.At = time.UnixMicro(int64(*raw.At * 1e6))
	}
	if len(raw.Object) == 0 {
		return Record{}, false, errors.New(`"object" is required`)
	}
	record.Object, known, err = Decode(raw.Object, nil)
	return record, known, err
}
