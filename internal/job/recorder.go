package job

import (
	"context"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// Start says which job a record is of.
type Start struct {
	ID            string
	WorkspaceName string
	Username      string
	Namespace     string
	// Resumed is true for a job that another run has begun: its record goes on.
	Resumed bool
}

// Recorder keeps the record of one job: a sink of the event stream, and a
// writer of its own that nobody waits for until the end. A nil Recorder keeps
// none. What happens before Begin is remembered, and forgotten if that is
// never called: then nothing was done.
type Recorder struct {
	stores *Stores
	now    func() time.Time

	mu      sync.Mutex
	record  Record // its entries are never changed in place
	start   *Start
	handled uint64 // the number of the newest event
	ending  *ending
	endBy   time.Time     // of the last write; zero until nothing more will change
	changed chan struct{} // holds a token when there is something to write
	final   chan struct{} // closed when nothing more will change
	written chan struct{} // closed when the writer is done
	problem error         // why the record is not written, or not where it belongs
}

// ending is how a job ended, once a certain event has been handled.
type ending struct {
	after uint64
	err   error
}

// NewRecorder makes a recorder for one command; nil if no record is kept.
func NewRecorder(stores *Stores, now func() time.Time) *Recorder {
	if stores == nil {
		return nil
	}
	return &Recorder{
		stores: stores, now: now, changed: make(chan struct{}, 1),
		final: make(chan struct{}), written: make(chan struct{}),
	}
}

// Begin begins to write, at the latest once everything is created. It does not
// wait. Only the first call counts.
func (r *Recorder) Begin(ctx context.Context, start Start) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.start != nil {
		return
	}
	r.start = &start
	r.record.ID, r.record.WorkspaceName, r.record.Username = start.ID, start.WorkspaceName, start.Username
	r.record.Status, r.record.CreatedAt = Running, r.now().UTC()
	if len(r.record.Events) > 0 {
		r.record.CreatedAt = r.record.Events[0].Timestamp
	}
	r.change()
	w := &writer{Recorder: r, stores: r.stores.in(start.Namespace), resumed: start.Resumed}
	// It outlives an interruption: that the job ended is to be written, too.
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(r.written)
		r.problem = w.run(ctx)
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
	if r.start != nil && r.ending == nil {
		r.ending = &ending{after, err}
	}
	r.complete()
}

// Handle takes an event into the record. With the result it waits for the last
// write, for as long as that may take.
func (r *Recorder) Handle(e v1.Event) {
	r.mu.Lock()
	r.handled = e.Seq
	if entry, repeat, ok := entryOf(e); ok && r.endBy.IsZero() {
		r.record = r.record.add(entry, repeat)
		if len(r.record.Events) > manyEntries {
			r.record = r.record.Fit(MaxSize)
		}
		r.change()
	}
	switch {
	case e.Result == nil:
		r.complete()
	case e.Result.Error == nil:
		r.end(e.Seq, nil)
	default:
		r.end(e.Seq, fault.New(fault.Code(e.Result.Error.Code), "%s", e.Result.Error.Message))
	}
	begun := r.start != nil
	r.mu.Unlock()
	if e.Result != nil && begun {
		<-r.written
	}
}

// manyEntries is from where on the size of the record is checked.
const manyEntries = 256

// complete ends the record once everything that belongs to it was handled.
func (r *Recorder) complete() {
	if r.ending == nil || r.handled < r.ending.after || !r.endBy.IsZero() {
		return
	}
	now := r.now()
	result := Entry{Type: TypeProgress, Timestamp: now.UTC(), ObjectName: resultName, Status: StatusOK, Message: "ready"}
	if err := r.ending.err; err != nil {
		result.Status, result.Message = string(fault.CodeOf(err)), short(fault.From(err).Message)
	}
	r.record = r.record.append(result)
	r.record.Status, r.record.FinishedAt = Completed, new(now.UTC())
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

// Problem says after the end why the record could not be kept, or not where it
// belongs; nil if all went well.
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
