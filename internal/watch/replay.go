package watch

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "github.com/berthdev/berth/api/v1"
)

// Record is one change in a recorded history.
type Record struct {
	At     time.Time
	Type   watch.EventType
	Object runtime.Object
}

// ReadHistory reads a history: JSON lines of {"at": seconds, "type", "object"}.
func ReadHistory(r io.Reader) ([]Record, error) {
	var history []Record
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 8<<20)
	for n := 1; lines.Scan(); n++ {
		var line struct {
			At     float64         `json:"at"`
			Type   watch.EventType `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(line.Object, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		history = append(history, Record{At: time.UnixMicro(int64(line.At * 1e6)), Type: line.Type, Object: obj})
	}
	return history, lines.Err()
}

// Replay applies a history change by change and hands out each reading, also
// those that time alone brings about between two changes.
func Replay(subject Subject, history []Record, p Policy, see func(at time.Time, s v1.Snapshot)) {
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
		state = state.Apply(r.Type, r.Object)
		var snapshot v1.Snapshot
		snapshot, next = Analyze(state, p, r.At)
		see(r.At, snapshot)
	}
}
