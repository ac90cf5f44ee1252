// Package job keeps the record of one provisioning: every change of stage and every event of Kubernetes, written as it
// happens, off the critical path, to NATS or to a ConfigMap of the cluster.
//
// The record is one document. What happens is taken into it in memory, which
// is the queue; the newest state is written whenever the write before is done. In NATS it has
// an entry for each change of stage and each event; for a ConfigMap what is alike is folded.
package job

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// Record is what is known of one job. Encode and Decode have its stored form.
type Record struct {
	// ID is a UUID: the label job-id of the pod, and the key in the store.
	ID string
	// WorkspaceName is the canonical ID of the workspace.
	WorkspaceName string
	// UserString is the workspace's: two may have one ID. Empty if it is not known.
	UserString string
	Username   string
	Status     v1.JobStatus
	CreatedAt  time.Time
	UpdatedAt  time.Time
	FinishedAt *time.Time
	Events     []v1.JobEvent
	// Blueprint, Node, Image and Cause are what v1.Job says; records of earlier versions have none of them.
	Blueprint string
	Node      string
	Image     string
	Cause     string

	// apart is true where entries that are alike are kept one by one: in NATS.
	apart bool
	// abandoned is true if nobody works on the job any more, whatever its status says.
	abandoned bool
}

// After is the record that continues an earlier one of the same job, when a
// run took the job over from one that was cut off.
func (r Record) After(earlier Record) Record {
	if earlier.ID == "" {
		return r
	}
	whole := earlier
	whole.apart = r.apart
	whole = whole.addAll(r.Events)
	whole.ID, whole.WorkspaceName, whole.UserString, whole.Username = r.ID, r.WorkspaceName, r.UserString, r.Username
	whole.Status, whole.FinishedAt, whole.UpdatedAt = r.Status, r.FinishedAt, r.UpdatedAt
	whole.Blueprint, whole.Node = cmp.Or(r.Blueprint, whole.Blueprint), cmp.Or(r.Node, whole.Node)
	whole.Image, whole.Cause = cmp.Or(r.Image, whole.Image), r.Cause
	return whole
}

// nextID is the ID of the entry to come.
func (r Record) nextID() string {
	for _, e := range slices.Backward(r.Events) {
		if n, err := strconv.Atoi(e.ID); err == nil {
			return strconv.Itoa(n + 1)
		}
	}
	return strconv.Itoa(len(r.Events) + 1)
}

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
	if r, err = unmarshal(text); err != nil {
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

// How large a stored record may be, in bytes: in a ConfigMap, and in NATS, whose servers take
// messages of 1 MiB if nothing else is configured.
const (
	MaxSize     = 512 << 10
	maxSizeNATS = 960 << 10
)

// The entry that replaces those that are left out.
const (
	leftOutName = "record"
	leftOutText = "entries omitted: %d"
)

// Fit is the record in not more than limit bytes. The oldest events and steps are left out first, and counted; then
// readings of a stage that had been reached before them. Changes of stage and the result stay.
func (r Record) Fit(limit int) Record {
	for _, mayGo := range []func([]v1.JobEvent, int) bool{isEventOrStep, isSameStage} {
		for ok := true; ok && r.size() > limit; {
			r, ok = r.trim(mayGo)
		}
	}
	return r
}

func (r Record) size() int {
	text, err := r.Encode()
	if err != nil {
		return 0 // cannot happen: only plain fields
	}
	return len(text)
}

// trim leaves out the oldest quarter of the entries that may go; false if there are none.
func (r Record) trim(mayGo func([]v1.JobEvent, int) bool) (Record, bool) {
	candidates := 0
	for i := range r.Events {
		if mayGo(r.Events, i) {
			candidates++
		}
	}
	quota, leftOut, note := (candidates+3)/4, 0, -1
	var kept []v1.JobEvent
	for i, e := range r.Events {
		switch {
		case e.ObjectName == leftOutName: // of an earlier time
			var before int
			_, _ = fmt.Sscanf(e.Message, leftOutText, &before)
			leftOut += before
		case quota > 0 && mayGo(r.Events, i):
			leftOut++
			quota--
		default:
			kept = append(kept, e)
			continue
		}
		if note < 0 {
			note = len(kept)
			kept = append(kept, v1.JobEvent{
				ID: e.ID, Type: v1.JobEventProgress, Timestamp: e.Timestamp,
				ObjectName: leftOutName,
			})
		}
	}
	if candidates > 0 {
		kept[note].Message = fmt.Sprintf(leftOutText, leftOut)
		r.Events = kept
	}
	return r, candidates > 0
}

func isEventOrStep(all []v1.JobEvent, i int) bool {
	return !isStatus(all[i]) && !isResult(all[i]) && all[i].ObjectName != leftOutName
}

// isSameStage is true for a reading of a stage that the one before it also had.
func isSameStage(all []v1.JobEvent, i int) bool {
	if !isStatus(all[i]) {
		return false
	}
	before, ok := last(all[:i], isStatus)
	return ok && stageOf(before) == stageOf(all[i])
}
