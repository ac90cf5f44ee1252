package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

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

// Decode reads an object as the API server writes it; not known for a kind that is not
// built in. The items of a list of one kind need not name it: they have the default one.
// Events are of the core API, whichever they were read with.
func Decode(raw []byte, defaults *schema.GroupVersionKind) (obj runtime.Object, known bool, err error) {
	obj, _, err = scheme.Codecs.UniversalDeserializer().Decode(raw, defaults, nil)
	if runtime.IsNotRegisteredError(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if e, ok := obj.(*eventsv1.Event); ok {
		obj = coreEvent(e)
	}
	return obj, true, nil
}

// coreEvent is an event as the API server shows it to those who read it with the core
// API.
func coreEvent(e *eventsv1.Event) *corev1.Event {
	core := &corev1.Event{
		ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Related: e.Related,
		Reason: e.Reason, Message: e.Note, Type: e.Type, Action: e.Action,
		Source: e.DeprecatedSource, ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		EventTime: e.EventTime, Count: e.DeprecatedCount,
		FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp,
	}
	if e.Series != nil {
		core.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return core
}
