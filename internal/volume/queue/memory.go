package queue

import (
	"slices"
	"time"

	"github.com/berthdev/berth/internal/volume"
)

// set takes a record into memory.
func (q *Queue) set(r Record) {
	q.drop(r.ID)
	e := &entry{Record: r}
	q.entries[r.ID] = e
	if r.Waits() {
		q.order = slices.Insert(q.order, place(q.order, e), e)
		q.bytes += max(r.Bytes, 0)
	}
}

// drop takes a record out of memory.
func (q *Queue) drop(id string) {
	e, ok := q.entries[id]
	if !ok {
		return
	}
	delete(q.entries, id)
	delete(q.changed, id)
	if e.Waits() {
		at := place(q.order, e)
		q.order = slices.Delete(q.order, at, at+1)
		q.bytes -= max(e.Bytes, 0)
	}
}

// Get is the record of a volume.
func (q *Queue) Get(id string) (Record, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, ok := q.entries[id]
	if !ok {
		return Record{}, false
	}
	return e.Record, true
}

// Waiting are the volumes in their afterlife, the oldest first.
func (q *Queue) Waiting() []volume.Volume {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]volume.Volume, len(q.order))
	for i, e := range q.order {
		all[i] = e.Volume
	}
	return all
}

// Used are the records of the volumes that pods use.
func (q *Queue) Used() []Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []Record
	for _, e := range q.entries {
		if !e.Waits() {
			all = append(all, e.Record)
		}
	}
	return all
}

// Figures are what is counted of the volumes.
type Figures struct {
	Used, Waiting int
	// Bytes are those of the volumes in their afterlife, as far as they are measured.
	Bytes int64
}

// Figures counts.
func (q *Queue) Figures() Figures {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Figures{Used: len(q.entries) - len(q.order), Waiting: len(q.order), Bytes: q.bytes}
}

// Keep keeps volumes in their afterlife until then, whatever the disk has.
func (q *Queue) Keep(until time.Time, ids ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range ids {
		if e, ok := q.entries[id]; ok {
			e.retry = until
		}
	}
}

// Measured notes what a volume in its afterlife takes. It is written with Flush: what is
// lost is measured again.
func (q *Queue) Measured(id string, bytes, inodes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, ok := q.entries[id]
	if !ok || !e.Waits() {
		return
	}
	q.bytes += max(bytes, 0) - max(e.Bytes, 0)
	e.Bytes, e.Inodes = bytes, inodes
	q.changed[id] = true
}

// Unmeasured is a volume in its afterlife that is not measured and not left out.
func (q *Queue) Unmeasured(leftOut func(id string) bool) (volume.Volume, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.order {
		if e.Bytes < 0 && !leftOut(e.ID) {
			return e.Volume, true
		}
	}
	return volume.Volume{}, false
}
