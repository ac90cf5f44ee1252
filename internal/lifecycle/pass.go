package lifecycle

import (
	"context"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berthdev/berth/internal/fault"
)

// Pass is what became of an exchange with the records of a store.
type Pass struct {
	Answer Answer
	// Missed are the workspaces whose records others have changed at the same time. They
	// are not in the answer: they have to be reported again, and all of them in full if
	// the report was.
	Missed []string
	// Damaged are the records that cannot be read; the others do not wait for them.
	Damaged []error
}

// writers is how many records are written at once.
const writers = 8

// Exchange takes a report into the records and returns the answer. Only what changed is
// written, each record in the version that was read. After an error some may have been: report
// in full next.
func (s Records) Exchange(ctx context.Context, report Report, limits func(Record) Limits, now time.Time) (p Pass, err error) {
	all, damaged, err := s.List(ctx)
	if err != nil {
		return Pass{}, err
	}
	p.Damaged = damaged
	records := make(map[string]Record, len(all))
	for _, r := range all {
		records[r.ID] = r
	}
	changed, answer, err := Exchange(records, report, limits, NextMark(records, now))
	if err != nil {
		return Pass{}, err
	}
	p.Missed, err = s.write(ctx, changed)
	if err != nil {
		return Pass{}, err
	}
	missed := func(w Answered) bool { return slices.Contains(p.Missed, w.ID) }
	answer.Workspaces = slices.DeleteFunc(answer.Workspaces, missed)
	p.Answer = answer
	return p, nil
}

// write writes records, and returns those that have changed meanwhile, sorted.
func (s Records) write(ctx context.Context, changed map[string]Record) (missed []string, err error) {
	ids := slices.Sorted(maps.Keys(changed))
	conflicts := make([]bool, len(ids))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i, id := range ids {
		group.Go(func() error {
			_, err := s.put(groupCtx, changed[id])
			if conflicts[i] = fault.CodeOf(err) == fault.Conflict; conflicts[i] {
				return nil
			}
			return err
		})
	}
	err = group.Wait()
	for i, id := range ids {
		if conflicts[i] {
			missed = append(missed, id)
		}
	}
	return missed, err
}
