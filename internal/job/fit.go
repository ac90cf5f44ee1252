package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// MaxSize is how large a stored record may be, in bytes.
const MaxSize = 512 << 10

// Encode is the stored form.
func (r Record) Encode() ([]byte, error) {
	if r.Events == nil {
		r.Events = []Entry{}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("job record %s: %w", r.ID, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Decode reads the stored form. What else somebody has put into it is left out.
func Decode(text []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return Record{}, fmt.Errorf("job record: %w", err)
	}
	return r, nil
}

// Fit is the record in not more than limit bytes: of what Kubernetes said and
// berth did the oldest is left out, and counted; then readings of a stage that
// had been reached before them. A change of stage and the result stay.
func (r Record) Fit(limit int) Record {
	for _, spare := range []func([]Entry, int) bool{isTalk, isSameStage} {
		for r.size() > limit {
			var ok bool
			if r, ok = r.thin(spare); !ok {
				break
			}
		}
	}
	return r
}

func (r Record) size() int {
	text, err := r.Encode()
	if err != nil {
		return 0 // a value of plain fields
	}
	return len(text)
}

const leftOutName = "record"

// thin leaves a quarter of what can be spared out, the oldest.
func (r Record) thin(spare func([]Entry, int) bool) (Record, bool) {
	var victims []int
	for i := range r.Events {
		if spare(r.Events, i) {
			victims = append(victims, i)
		}
	}
	if len(victims) == 0 {
		return r, false
	}
	victims = victims[:(len(victims)+3)/4]
	gone, kept := len(victims), make([]Entry, 0, len(r.Events))
	note := Entry{Type: TypeProgress, ObjectName: leftOutName, Timestamp: r.Events[victims[0]].Timestamp, ID: r.Events[victims[0]].ID}
	isVictim := func(i int) bool { _, found := slices.BinarySearch(victims, i); return found }
	for i, e := range r.Events {
		var before int
		switch {
		case e.ObjectName == leftOutName:
			if _, err := fmt.Sscanf(e.Message, leftOutText, &before); err == nil {
				gone += before
				note.ID, note.Timestamp = e.ID, e.Timestamp
			}
		case !isVictim(i):
			kept = append(kept, e)
		}
	}
	note.Message = fmt.Sprintf(leftOutText, gone)
	r.Events = slices.Insert(kept, min(victims[0], len(kept)), note)
	return r, true
}

const leftOutText = "%d entries are left out"

// isTalk is true for what is neither a stage nor the result.
func isTalk(all []Entry, i int) bool {
	e := all[i]
	return e.Type != TypeStatus && e.ObjectName != resultName && e.ObjectName != leftOutName
}

// isSameStage is true for a reading of a stage that the one before had, too.
func isSameStage(all []Entry, i int) bool {
	if all[i].Type != TypeStatus {
		return false
	}
	for _, e := range slices.Backward(all[:i]) {
		if e.Type == TypeStatus {
			return stageOf(e) == stageOf(all[i])
		}
	}
	return false
}
