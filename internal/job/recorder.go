package job

import (
	"cmp"
	"context"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// Start says which job a record is of.
type Start struct {
	ID, WorkspaceName, UserString, Username, Namespace, Blueprint string
	// Resumed is true for a job that another run has begun: its record is continued.
	Resumed bool
}

// Recorder keeps the record of one job: a sink of the event stream, and a writer of its own, which is only waited for
// at the end. A nil Recorder keeps no record. What happens before Begin is remembered, and forgotten if that is never
// called: then nothing was done.
type Recorder struct {
	stores  *Stores
	now     func() time.Time
	changed chan struct{} // holds a token when there is something to write
	final   chan struct{} // closed when nothing more will change
	written chan struct{} // closed when the writer is done
	problem error         // set by then: why the record is not where it belongs
	resumed bool          // what an earlier run has written is to be read
	earlier Record        // what it has written
	leaves  bool          // what has expired, to others

	mu      sync.Mutex
	record  Record // its entries are never changed in place
	fitAt   int    // the number of entries at which its size is checked
	begun   bool
	handled uint64       // the number of the newest event
	result  *v1.JobEvent // how the job ended, once the event of number after is handled
	after   uint64
	endBy   time.Time // of the last write; zero until nothing more will change
}

// NewRecorder makes a recorder for one command; nil if no record is kept.
func NewRecorder(stores *Stores, now func() time.Time) *Recorder {
	if stores == nil {
		return nil
	}
	return &Recorder{
		record: Record{apart: stores.nats != nil},
		stores: stores, now: now, changed: make(chan struct{}, 1),
		final: make(chan struct{}), written: make(chan struct{}),
	}
}

// Leaving leaves the records that have expired to others: it takes a permission that what works
// for everybody is not to have. It is for one that has not begun.
func (r *Recorder) Leaving() *Recorder {
	if r != nil {
		r.leaves = true
	}
	return r
}

// Begin begins to write, at the latest once everything is created. It does not wait. Only the first call counts.
func (r *Recorder) Begin(ctx context.Context, start Start) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun {
		return
	}
	r.begun = true
	r.record.ID, r.record.WorkspaceName, r.record.Username = start.ID, start.WorkspaceName, start.Username
	r.record.UserString, r.record.Blueprint = start.UserString, start.Blueprint
	r.record.Status, r.record.CreatedAt = v1.JobStatusRunning, r.now().UTC()
	if len(r.record.Events) > 0 {
		r.record.CreatedAt = r.record.Events[0].Timestamp
	}
	stores := *r.stores
	stores.cluster.Namespace = cmp.Or(start.Namespace, stores.cluster.Namespace)
	r.stores, r.resumed = &stores, start.Resumed
	// It outlives an interruption: that the job ended is to be written, too.
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(r.written)
		r.problem = r.write(ctx)
	}()
}

// End says how the job ended, after the event of that number has been handled:
// the last write begins before the result is on the stream.
func (r *Recorder) End(after uint64, err error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(after, err)
}

func (r *Recorder) end(after uint64, err error) {
	if !r.begun || r.result != nil {
		return
	}
	r.after, r.result = after, &v1.JobEvent{Type: v1.JobEventProgress, ObjectName: resultName, Status: StatusOK}
	if err != nil {
		r.result.Status, r.result.Message = string(fault.CodeOf(err)), short(fault.From(err).Message)
	}
	r.complete()
}

// Handle takes an event into the record. With the result it waits for the last write, for as long as that may take.
func (r *Recorder) Handle(e v1.Event) {
	r.mu.Lock()
	r.handled = e.Seq
	if entry, repeat, ok := entryOf(e); ok && r.endBy.IsZero() {
		r.record = r.record.add(entry, repeat).seen(e)
		if len(r.record.Events) >= r.fitAt {
			r.record = r.record.Fit(r.stores.maxSize())
			r.fitAt = len(r.record.Events) + manyEntries
		}
		r.change()
	}
	r.complete()
	if e.Result != nil {
		var err error
		if e.Result.Error != nil {
			err = fault.New(fault.Code(e.Result.Error.Code), "%s", e.Result.Error.Message)
		}
		r.end(e.Seq, err)
	}
	begun := r.begun
	r.mu.Unlock()
	if e.Result != nil && begun {
		<-r.written
	}
}

// manyEntries is how many entries are added before the size of the record, which
// takes long to measure, is checked again. A write always checks it.
const manyEntries = 256

// complete ends the record once everything that belongs to it was handled.
func (r *Recorder) complete() {
	if r.result == nil || r.handled < r.after || !r.endBy.IsZero() {
		return
	}
	now := r.now()
	r.result.Timestamp = now.UTC()
	if r.result.Status == StatusOK {
		r.result.Message = "ready"
		if !r.record.ranAtTheEnd() {
			r.result.Message = "not followed"
		}
	}
	r.record = r.record.append(*r.result)
	r.record.Status, r.record.FinishedAt = v1.JobStatusCompleted, new(now.UTC())
	r.endBy = now.Add(endTime)
	r.change()
	close(r.final)
}

// change says that there is something to write.
func (r *Recorder) change() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// snapshot is the record to be written now, and if it is the last one, by when.
func (r *Recorder) snapshot() (record Record, endBy time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.changed:
	default:
	}
	r.record.UpdatedAt = r.now().UTC()
	return r.record, r.endBy
}

// Problem says after the end why the record could not be kept, or not where it belongs; nil if all went well.
func (r *Recorder) Problem() error {
	if r == nil {
		return nil
	}
	select {
	case <-r.written:
		return r.problem
	default:
		return nil
	}
}
