package job

import "fmt"

// MaxSize is how large a stored record may be, in bytes.
const MaxSize = 512 << 10

// The entry in place of those that are left out.
const (
	leftOutName = "record"
	leftOutText = "%d entries are left out"
)

// Fit is the record in not more than limit bytes. The oldest events and steps are
// left out first, and counted; then readings of a stage that had been reached
// before them. Changes of stage and the result stay.
func (r Record) Fit(limit int) Record {
	for _, mayGo := range []func([]Entry, int) bool{isEventOrStep, isSameStage} {
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
func (r Record) trim(mayGo func([]Entry, int) bool) (Record, bool) {
	candidates := 0
	for i := range r.Events {
		if mayGo(r.Events, i) {
			candidates++
		}
	}
	quota, leftOut, note := (candidates+3)/4, 0, -1
	var kept []Entry
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
			kept = append(kept, Entry{ID: e.ID, Type: TypeProgress, Timestamp: e.Timestamp, ObjectName: leftOutName})
		}
	}
	if candidates > 0 {
		kept[note].Message = fmt.Sprintf(leftOutText, leftOut)
		r.Events = kept
	}
	return r, candidates > 0
}

func isEventOrStep(all []Entry, i int) bool {
	e := all[i]
	return e.Type != TypeStatus && e.ObjectName != resultName && e.ObjectName != leftOutName
}

// isSameStage is true for a reading of a stage that the one before it also had.
func isSameStage(all []Entry, i int) bool {
	if all[i].Type != TypeStatus {
		return false
	}
	last, ok := lastStatus(all[:i])
	return ok && stageOf(last) == stageOf(all[i])
}
