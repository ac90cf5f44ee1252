package watch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
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

// maxLine is the longest line of a history: an object of the API server has
// 1.5 MB at most.
const maxLine = 8 << 20

// latestTime is the last second that RFC 3339 has a year for.
const latestTime = 253402300799

// ReadHistory reads a history: JSON lines of {"at": seconds, "type", "object"}.
// Objects of kinds that are not known here, bookmarks and empty lines are left
// out.
func ReadHistory(r io.Reader) ([]Record, error) {
	var history []Record
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 1
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		record, ok, err := readRecord(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if ok {
			history = append(history, record)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n, err)
	}
	return history, nil
}

func readRecord(line []byte) (record Record, ok bool, err error) {
	var raw struct {
		At     *float64        `json:"at"`
		Type   watch.EventType `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return Record{}, false, err
	}
	switch raw.Type {
	case watch.Added, watch.Modified, watch.Deleted:
	case watch.Bookmark, watch.Error:
		return Record{}, false, nil
	default:
		return Record{}, false, fmt.Errorf("type %q: must be one of ADDED, MODIFIED, DELETED", raw.Type)
	}
	switch {
	case raw.At == nil:
		return Record{}, false, errors.New(`"at" is required: a time in seconds since 1970`)
	case *raw.At < 0 || *raw.At > latestTime:
		return Record{}, false, fmt.Errorf(`invalid "at" %v: must be a time in seconds since 1970`, *raw.At)
	case len(raw.Object) == 0:
		return Record{}, false, errors.New(`"object" is required`)
	}
	obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw.Object, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, err
	}
	return Record{At: time.UnixMicro(int64(*raw.At * 1e6)), Type: raw.Type, Object: obj}, true, nil
}
