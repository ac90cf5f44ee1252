package lifecycle

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berthdev/berth/internal/fault"
)

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
