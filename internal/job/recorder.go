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
// none. What happens before Begin is kept in mind, and forgotten if that is
// never called: then nothing was done.
type Recorder struct {
	stores *Stores
	now    func() time.Time

	mu      sync.Mutex
	record  Record
	start   *Start
	handled uint64 // the number of the newest event
	ending  *ending
	changed chan struct{} // holds a token when there is something to write

	final   chan struct{} // closed when nothing more will change
	written chan struct{} // closed when the writer is done
	problem error         // why the record is not, or not where it belongs
}

// ending is how a job ended, to be told after a certain event.
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

// Begin begins to write, at the latest once what was asked for is created. It
// does not wait. Only the first call counts.
func (r *Recorder) Begin(ctx context.Context, start Start) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.start != nil {
		return
	}
	now := r.now().UTC()
	r.start = &start
	r.record.ID, r.record.WorkspaceName, r.record.Username = start.ID, start.WorkspaceName, start.Username
	r.record.Status, r.record.CreatedAt = Running, now
	if len(r.record.Events) > 0 {
		r.record.CreatedAt = r.record.Events[0].Timestamp
	}
	r.touch()
	// It outlives an interruption: that the job ended is to be written, too.
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(r.written)
		r.keep(ctx, start)
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
	if r.start != nil && r.ending == nil {
		r.ending = &ending{after, err}
		r.complete()
	}
}

// Handle takes an event into the record. With the result it waits for the last
// write, for as long as that may take.
func (r *Recorder) Handle(e v1.Event) {
	r.mu.Lock()
	r.handled = e.Seq
	if entry, repeat, ok := entryOf(e); ok && !r.isFinal() {
		r.record = r.record.add(entry, repeat)
		if len(r.record.Events) > manyEntries {
			r.record = r.record.Fit(MaxSize)
		}
		r.touch()
	}
	if e.Result != nil && r.start != nil && r.ending == nil {
		r.ending = &ending{after: e.Seq}
		if e.Result.Error != nil {
			r.ending.err = fault.New(fault.Code(e.Result.Error.Code), "%s", e.Result.Error.Message)
		}
	}
	r.complete()
	begun := r.start != nil
	r.mu.Unlock()
	if e.Result != nil && begun {
		<-r.written
	}
}

// manyEntries is from where on it is looked at whether they are too many.
const manyEntries = 256

// complete ends the record once all that belongs to it has come.
func (r *Recorder) complete() {
	if r.ending == nil || r.handled < r.ending.after || r.isFinal() {
		return
	}
	now := r.now().UTC()
	result := Entry{Type: TypeProgress, Timestamp: now, ObjectName: resultName, Status: StatusOK, Message: "ready"}
	if err := r.ending.err; err != nil {
		result.Status, result.Message = string(fault.CodeOf(err)), short(fault.From(err).Message)
	}
	r.record = r.record.Add(result)
	r.record.Status, r.record.FinishedAt = Completed, &now
	r.touch()
	close(r.final)
}

func (r *Recorder) isFinal() bool {
	select {
	case <-r.final:
		return true
	default:
		return false
	}
}

// touch says that there is something to write.
func (r *Recorder) touch() {
	r.record.UpdatedAt = r.now().UTC()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// Problem says after the end why the record could not be kept, or not where it
// belongs; nil if all went well.
func (r *Recorder) Problem() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problem
}

// snapshot is the record to be written now, and whether it is the last one.
func (r *Recorder) snapshot() (record Record, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.record.Clone(), r.isFinal()
}
