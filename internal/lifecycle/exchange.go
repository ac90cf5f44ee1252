package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// Report is what is so on the cluster.
type Report struct {
	// Full is true at the start of a reporter, and once in a while: everything is
	// compared then.
	Full       bool
	Workspaces []Reported
}

// Reported is a workspace whose state has changed, or each of them in a full report.
type Reported struct {
	// ID is the key of its record.
	ID string
	// Incarnation is empty if it is not known.
	Incarnation string
	Actual      v1.ActualState
	Cause       string
	// Version is the job that has brought up what runs.
	Version string
}

// Answer is what has to be done.
type Answer struct {
	// Workspaces are sorted by ID.
	Workspaces []Answered
	// Orphans are the IDs that were reported and that nobody knows, sorted. They are
	// left alone.
	Orphans []string
}

// Answered is a workspace in an answer.
type Answered struct {
	ID          string // as it is reported
	Incarnation string
	Desired     v1.DesiredState
	// Apply is true if Desired has to be brought about now.
	Apply bool
	// Changed is the revision of Desired: a reporter that could not apply it reports that for this
	// change only.
	Changed Revision
}

// Mark is the moment of an exchange. Its revision is larger than all that the records have.
type Mark struct {
	Revision Revision
	Time     time.Time
}

// NextMark is the mark of an exchange over these records.
func NextMark(records map[string]Record, now time.Time) Mark {
	m := Mark{Revision: 1, Time: now}
	for _, r := range records {
		m.Revision = max(m.Revision, r.next())
	}
	return m
}

// Exchange takes a report into the records, by key, and answers it. The records that changed
// are returned; those that were given are not touched. A report with anything wrong in it is
// refused as a whole: INVALID_ARGUMENT.
func Exchange(records map[string]Record, report Report, limits func(Record) Limits,
	at Mark,
) (changed map[string]Record, a Answer, err error) {
	if err := report.check(); err != nil {
		return nil, Answer{}, err
	}
	changed = map[string]Record{}
	reported := map[string]bool{}
	for _, w := range report.Workspaces {
		r, ok := records[w.ID]
		switch {
		case !ok:
			a.Orphans = append(a.Orphans, w.ID)
		case w.Incarnation == "" || w.Incarnation == r.Incarnation:
			changed[w.ID], reported[w.ID] = r.take(w, at), true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(records)) {
		r, ok := changed[id]
		if !ok {
			r = records[id]
		}
		if e, ok := limits(r).Exceeded(r, at.Time); ok {
			r = r.desire(e.Desired, e.Limit, at.Time, at.Revision).byLimit()
		}
		if !r.isAnswered(report.Full, reported[id]) {
			continue
		}
		a.Workspaces = append(a.Workspaces, Answered{
			ID: id, Incarnation: r.Incarnation, Desired: r.Desired, Changed: r.Changed, Apply: report.Full || r.Pending(),
		})
		r.Answered = at.Revision
		changed[id] = r
	}
	slices.Sort(a.Orphans)
	return changed, a, nil
}

// isAnswered says which workspaces are in the answer.
func (r Record) isAnswered(full, reported bool) bool {
	if full {
		return !r.Done()
	}
	return reported || r.Pending() || r.Desired == v1.DesiredTerminated && r.Actual != v1.ActualTerminated
}

// take takes what was reported into the record.
func (r Record) take(w Reported, at Mark) Record {
	if r.Actual != w.Actual {
		r.ActualAt = at.Time
	}
	r.Actual, r.Cause, r.Version = w.Actual, w.Cause, w.Version
	r = r.noted(at.Time)
	if r.Desired == v1.DesiredRestart && w.Actual == v1.ActualStopped {
		r = r.desire(v1.DesiredRunning, "", at.Time, at.Revision)
	}
	return r
}

// check names everything that is wrong with the report.
func (r Report) check() error {
	var problems []string
	met := map[string]bool{}
	for _, w := range r.Workspaces {
		switch {
		case w.ID == "":
			problems = append(problems, "a workspace without an ID")
		case met[w.ID]:
			problems = append(problems, fmt.Sprintf("workspace %s is reported twice", w.ID))
		}
		if !isReportable(w.Actual) {
			problems = append(problems, fmt.Sprintf("workspace %s is reported as %q, an unknown state", w.ID, w.Actual))
		}
		met[w.ID] = true
	}
	if len(problems) == 0 {
		return nil
	}
	err := fault.New(fault.InvalidArgument, "the report of workspaces is wrong: %s", problems[0])
	err.Problems = problems
	return err
}
