package job

import (
	"fmt"

	v1 "github.com/berthdev/berth/api/v1"
)

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

// Fit is the record in not more than limit bytes. The oldest events and steps are
// left out first, and counted; then readings of a stage that had been reached
// before them. Changes of stage and the result stay.
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

// trim leaves out the oldest quarter of the entries that may go; false if there are
// none.
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
