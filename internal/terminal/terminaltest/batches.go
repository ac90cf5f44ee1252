package terminaltest

import (
	"fmt"
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Member is a title of one of several.
func Member(user, blueprint string) wording.Title {
	return wording.Title{
		UserString: user + "~" + blueprint, ID: fmt.Sprintf("%s-%07x", user, len(user)*7919),
		Namespace: "workspaces", Verb: "provision",
	}
}

// Many plays several scripts on one stream, each after a while.
type Many struct {
	Batch  wording.Batch
	Events []v1.Event
	items  []v1.ProvisionItem
}

// Add lets one more begin after a while. What ends its script is its outcome.
func (b *Many) Add(title wording.Title, after time.Duration, s *Script) {
	item := v1.ProvisionItem{UserString: title.UserString, ID: title.ID}
	for _, e := range s.Events {
		e.At, e.Workspace = e.At.Add(after), title.ID
		if e.Result != nil {
			r := *e.Result
			item.Workspace, item.Error = r.Workspace, r.Error
			e.Outcome, e.Result = &r, nil
		}
		b.Events = append(b.Events, e)
	}
	b.Batch.Members, b.items = append(b.Batch.Members, title), append(b.items, item)
}

// End puts the events in order and adds the result.
func (b *Many) End() *Many {
	slices.SortStableFunc(b.Events, func(x, y v1.Event) int { return x.At.Compare(y.At) })
	last := b.Events[len(b.Events)-1].At
	s := &v1.ProvisionSummary{Items: b.items, Totals: v1.Totals{Seconds: last.Sub(T0).Seconds()}}
	for _, item := range b.items {
		if item.Error != nil {
			s.Failed++
			s.ExitStatus = max(3, item.Error.ExitStatus)
		}
	}
	s.Succeeded = len(b.items) - s.Failed
	b.Events = append(b.Events, v1.Event{At: last, Result: &v1.Result{Summary: s}})
	for i := range b.Events {
		b.Events[i].Seq = uint64(i + 1)
	}
	return b
}

// BatchOf is a batch without members yet.
func BatchOf(parallel int) *Many {
	return &Many{Batch: wording.Batch{
		Namespace: "workspaces", Parallel: parallel,
		Again: "berth provision -f team.txt --if-not-exists",
	}}
}

// Team are five, of whom two fail and one waits for a place first.
func Team() *Many {
	b := BatchOf(3)
	b.Add(Member("alice", "dev"), 0, Succeeding())
	b.Add(Member("bob", "typo"), 0, ImageNotFound())
	b.Add(Member("carol-from-the-other-department", "data-science"), 0, CrashLoop())
	b.Add(Member("dave", "dev"), 2300*ms, Succeeding())
	b.Add(Member("erin", "dev"), 21400*ms, Succeeding())
	return b.End()
}

// Broken are interrupted: one runs, two are no longer followed.
func Broken() *Many {
	b := BatchOf(2)
	b.Add(Member("alice", "dev"), 0, Succeeding())
	b.Add(Member("bob", "dev"), 11*sc, Interrupted())
	s := &Script{}
	s.Add(0, v1.Event{Result: &v1.Result{Error: &v1.Error{
		Code: "INTERRUPTED", ExitStatus: 130,
		Message: "interrupted: not started", Detail: "not started",
	}}})
	b.Add(Member("carol", "dev"), 23*sc, s)
	return b.End()
}

// Stranded meet a cluster that is out of reach, all of them alike.
func Stranded() *Many {
	b := BatchOf(4)
	for _, user := range []string{"alice", "bob", "carol"} {
		s := &Script{}
		s.Step(0, "identity", v1.StepBegun, "", 0)
		s.Step(300*ms, "identity", v1.StepFailed, "", 0.3)
		s.Add(300*ms, v1.Event{Result: &v1.Result{Error: &v1.Error{
			Code: "UNAVAILABLE", ExitStatus: 8, Message: "the cluster cannot be reached: connection refused",
			Hint: "is it up?",
		}}})
		b.Add(Member(user, "dev"), 0, s)
	}
	return b.End()
}

// Removals are four: one removed, one not waited for, one that was not there,
// one that failed.
func Removals() (wording.Batch, []v1.Event) {
	b := wording.Batch{Namespace: "workspaces", Parallel: 4, Again: "berth delete a b c d --ignore-not-found"}
	results := []v1.Result{
		{Deletion: &v1.Deletion{Objects: 6, Seconds: 1.5, Gone: true}},
		{Deletion: &v1.Deletion{Objects: 1, Seconds: 0.5}},
		{Deletion: &v1.Deletion{NotFound: true, Gone: true}},
		{Error: &v1.Error{Code: "FAILED", ExitStatus: 3, Message: "workspace d is held", Hint: "look elsewhere"}},
	}
	summary := &v1.DeletionSummary{Totals: v1.Totals{Succeeded: 3, Failed: 1, ExitStatus: 3, Seconds: 1.5}}
	var events []v1.Event
	for i, name := range []string{"a", "b", "c", "d"} {
		b.Members = append(b.Members, wording.Title{
			UserString: name, ID: name + "-1234567", Namespace: "workspaces",
			Verb: "delete",
		})
		events = append(events, v1.Event{At: T0.Add(time.Second), Workspace: name + "-1234567", Outcome: &results[i]})
		summary.Items = append(summary.Items,
			v1.DeletionItem{ID: name + "-1234567", Deletion: results[i].Deletion, Error: results[i].Error})
	}
	return b, append(events, v1.Event{At: T0.Add(1500 * ms), Result: &v1.Result{Deletions: summary}})
}
