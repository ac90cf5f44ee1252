package watch

import (
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
