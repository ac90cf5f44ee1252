package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

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
			ID: id, Incarnation: r.Incarnation, Desired: r.Desired, Changed: r.Changed, Apply: report.Full ||
				r.Pending(),
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

// Pass is what became of an exchange with the records of a store.
type Pass struct {
	Answer Answer
	// Written are the records that the exchange changed, as they are now, by key.
	Written map[string]Record
	// Missed are the keys of those that others have changed at the same time, sorted. They
	// are not in the answer: they have to be reported again, and all of them in full if the
	// report was.
	Missed []string
}

// writers is how many records are written at once.
const writers = 8

// Exchange takes a report into records that were read before, by key, and returns the
// answer. Only what changed is written, each record in the version that was read; that one
// was answered again says nothing, unless its change was not answered before. After an error
// some may have been written: report in full next.
func (p Place) Exchange(ctx context.Context, records map[string]Record, report Report, limits func(Record) Limits,
	now time.Time,
) (pass Pass, err error) {
	changed, answer, err := Exchange(records, report, limits, NextMark(records, now))
	if err != nil {
		return Pass{}, err
	}
	if pass.Written, pass.Missed, err = p.write(ctx, records, changed); err != nil {
		return Pass{}, err
	}
	missed := func(w Answered) bool { return slices.Contains(pass.Missed, w.ID) }
	answer.Workspaces = slices.DeleteFunc(answer.Workspaces, missed)
	pass.Answer = answer
	return pass, nil
}

// write writes records, and returns them, and the keys of those that have changed meanwhile.
func (p Place) write(ctx context.Context, before, changed map[string]Record) (written map[string]Record,
	missed []string, err error,
) {
	keys := slices.Sorted(maps.Keys(changed))
	records, conflicts := make([]Record, len(keys)), make([]bool, len(keys))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i, key := range keys {
		if records[i] = before[key]; onlyAnswered(before[key], changed[key]) {
			continue
		}
		group.Go(func() (err error) {
			records[i], err = p.Of(changed[key].Namespace).put(groupCtx, changed[key], false)
			if conflicts[i] = fault.CodeOf(err) == fault.Conflict; conflicts[i] {
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	written = map[string]Record{}
	for i, key := range keys {
		if conflicts[i] {
			missed = append(missed, key)
		} else {
			written[key] = records[i]
		}
	}
	return written, missed, nil
}

// onlyAnswered is true if a record differs in nothing but the mark of another answer.
func onlyAnswered(before, after Record) bool {
	after.Answered = before.Answered
	return !before.Pending() && reflect.DeepEqual(before, after)
}
