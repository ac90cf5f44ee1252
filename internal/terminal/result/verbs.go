package result

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// done is the outcome of a command that did what it was to do.
func done(p style.Page, name, word string, took time.Duration, facts []string) Outcome {
	return Outcome{
		Sign: p.Done, Colour: p.Green, Word: word, Name: name,
		Took: took, Time: "in " + style.Brief(took), Facts: facts,
	}
}

// tookOr is what a document says in seconds, or else the time between the events.
func tookOr(between time.Duration, seconds float64) time.Duration {
	if seconds <= 0 {
		return between
	}
	return style.Seconds(seconds)
}

// seconds are those of all that a timing has; 0 without one.
func seconds(t *v1.Timing) float64 {
	if t == nil {
		return 0
	}
	return t.Seconds
}

// Deletion is what a deletion of one workspace did.
type Deletion struct{ v1.Deletion }

// Names are the ID of what is gone.
func (d Deletion) Names() []string { return []string{d.ID} }

// Text says that it is deleted.
func (d Deletion) Text(p style.Page) ([]string, error) {
	return d.Outcome(p, wording.Title{}, 0).Text(p), nil
}

// Outcome says what was deleted, and what to do with storage that is kept.
func (d Deletion) Outcome(p style.Page, t wording.Title, between time.Duration) Outcome {
	took := tookOr(between, d.Seconds)
	if d.NotFound {
		o := done(p, d.ID, "Not found", took, []string{"there is nothing to delete"})
		o.Colour, o.Time = p.Grey, ""
		return o
	}
	facts := []string{english.Count(d.Objects, "object")}
	for _, kept := range []bool{false, true} {
		if text := english.Storage(d.Storage, kept); text != "" {
			facts = append(facts, text)
		}
	}
	if !d.Gone {
		facts = append(facts, "the pod may still be terminating")
	}
	o := done(p, d.ID, "Deleted", took, facts)
	if !slices.ContainsFunc(d.Storage, func(s v1.DeletedStorage) bool { return s.Kept }) {
		return o
	}
	if t.UserString != "" && t.UserString != t.ID && !strings.HasPrefix(t.UserString, "id/") {
		o.Next = append(o.Next, wording.Command{Line: t.Command("provision"), Why: "use the storage again"})
	}
	o.Next = append(o.Next, wording.Command{Line: t.Command("delete"), Why: "delete the storage, too"})
	return o
}

// Stop is what stopping one workspace did.
type Stop struct{ v1.Stop }

// Names are the ID of what is stopped.
func (s Stop) Names() []string { return []string{s.ID} }

// Text says that it is stopped.
func (s Stop) Text(p style.Page) ([]string, error) {
	return s.Outcome(p, wording.Title{}, 0).Text(p), nil
}

// onlyStorages says what outlives the pods, whether there are any storages or none.
const onlyStorages = "only files in its storages are kept"

// Outcome says how far it is, what is lost, and how to start it again.
func (s Stop) Outcome(p style.Page, t wording.Title, between time.Duration) Outcome {
	word, facts := "Stopped", []string{onlyStorages}
	if !s.Stopped {
		word, facts = "Stopping", []string{"its pods may still be ending", onlyStorages}
	}
	if s.Already {
		facts = []string{"it was stopped already"}
	}
	o := done(p, s.ID, word, tookOr(between, s.Seconds), facts)
	o.Log = Entry{Label: strings.ToLower(word), Text: o.Time + ", " + strings.Join(facts, ", ")}
	o.Next = []wording.Command{{Line: t.Command("start"), Why: "start it again"}}
	return o
}

// Installation is what became of a bundle that was to be installed.
type Installation struct{ v1.BundleInstallation }

// Names are that of the instance.
func (i Installation) Names() []string { return []string{i.Name} }

// Text says what became of it.
func (i Installation) Text(p style.Page) ([]string, error) {
	return i.Outcome(p, wording.Title{}, 0).Text(p), nil
}

// Outcome says what was installed, and what its chart has to say.
func (i Installation) Outcome(p style.Page, t wording.Title, between time.Duration) Outcome {
	facts, action := []string{i.Bundle}, string(i.Action)
	if i.RolledBackTo > 0 {
		facts = append(facts, fmt.Sprintf("as revision %d", i.RolledBackTo))
	}
	for _, objects := range []struct {
		count int
		done  string
	}{
		{i.Objects.Created, "created"},
		{i.Objects.Updated, "updated"},
		{i.Objects.Deleted, "deleted"},
		{i.Objects.Unchanged, "unchanged"},
	} {
		if objects.count > 0 {
			facts = append(facts, strconv.Itoa(objects.count)+" "+objects.done)
		}
	}
	switch {
	case i.Action == v1.BundleRequested:
		facts = append(facts, "berth serve bundles does the rest")
	case !i.Healthy:
		facts = append(facts, "not waited until it is healthy")
	}
	o := done(p, i.Name, strings.ToUpper(action[:1])+action[1:], tookOr(between, seconds(i.Timing)), facts)
	notes := p.Paragraphs(i.Notes)
	o.Details = []Detail{{Lines: notes, Entries: entries("note", notes...)}}
	o.Next = []wording.Command{
		{Line: t.Command("bundle status"), Why: "show what is installed, and its health"},
		{Line: t.Command("bundle uninstall"), Why: "remove it"},
	}
	return o
}

// Removal is what became of an instance that was to be removed.
type Removal struct{ v1.BundleRemoval }

// Names are that of the instance.
func (r Removal) Names() []string { return []string{r.Name} }

// Text says that it is gone.
func (r Removal) Text(p style.Page) ([]string, error) {
	if r.NotFound {
		return []string{p.Text(r.Name) + " is not installed"}, nil
	}
	return r.Outcome(p, wording.Title{}, 0).Text(p), nil
}

// Outcome says what was removed, what was left, and why.
func (r Removal) Outcome(p style.Page, _ wording.Title, between time.Duration) Outcome {
	fact := english.Count(r.Objects, "object")
	if r.NotFound {
		fact = "not installed"
	}
	o := done(p, r.Name, "Uninstalled", tookOr(between, r.Seconds), []string{fact})
	for _, k := range r.Kept {
		name := k.Object
		if k.Namespace != "" {
			name += " in namespace " + k.Namespace
		}
		o.Kept = append(o.Kept, name+": "+k.Reason)
	}
	return o
}

// Outcome says that the workspace runs, how long each stage took, and what to type next; of one that the command does
// not wait for, why it does not run.
func (w Workspace) Outcome(p style.Page, t wording.Title, between time.Duration) Outcome {
	o := done(p, "", string(w.Stage), tookOr(between, seconds(w.Timing)), nil)
	o.Stage = w.Stage
	switch failed := wording.ScriptFailed(w.Scripts); {
	case w.Stage != v1.StageRunning:
		o.Why = wording.CauseOrMessage(w.Snapshot)
		o.Short, o.Time = o.Why, "after "+style.Brief(o.Took)
	case w.Timing == nil: // nothing was done to it
		o.Time = ""
		if !w.Since.IsZero() {
			o.Time = "since " + style.Age(w.Since, p.Now)
		}
		o.Short = o.Time
		if failed != "" {
			o.Short = failed
		}
	default:
		o.Short, o.Stages = failed, w.stages()
	}
	o.Log = Entry{Label: "stage " + string(w.Stage), Text: o.Short}
	if w.Stage == v1.StageRunning && w.Timing != nil {
		o.Log.Text = "ready " + o.Time
	}
	switch {
	case t.Verb == "exec", t.Enters && w.Stage == v1.StageRunning:
	case w.Stage == v1.StageRunning:
		o.Next = t.Enter()
	default:
		o.Next = []wording.Command{{Line: t.Command("status")}}
	}
	return o
}

// stages are the stages in the order of their first appearance, each with all the time that was spent in it: stages may
// come back.
func (w Workspace) stages() (sums []v1.StepTiming) {
	for _, s := range w.Timing.Stages {
		if i := slices.IndexFunc(sums, func(o v1.StepTiming) bool { return o.Name == s.Name }); i >= 0 {
			sums[i].Seconds += s.Seconds
		} else {
			sums = append(sums, s)
		}
	}
	return sums
}

// TimingLines say where the time of a provisioning went: of one workspace or of
// each of several.
func TimingLines(r v1.Result, st style.Styles) (lines []string) {
	add := func(seconds float64, name string) { lines = append(lines, fmt.Sprintf("%9.3fs  %s", seconds, name)) }
	requests := func(n int) { lines = append(lines, fmt.Sprintf("%9d   API requests", n)) }
	steps := func(t *v1.Timing) {
		for _, step := range append(slices.Clip(t.Steps), t.Stages...) {
			add(step.Seconds, step.Name)
		}
		add(t.Seconds, "total")
	}
	if r.Summary == nil {
		if t := timing(r.Workspace, r.Error); t != nil {
			lines = append(lines, "")
			steps(t)
			requests(t.Requests)
		}
		return lines
	}
	for _, item := range r.Summary.Items {
		if t := timing(item.Workspace, item.Error); t != nil {
			lines = append(lines, "", st.Text(item.UserString))
			steps(t)
		}
	}
	lines = append(lines, "")
	add(r.Summary.Seconds, "in total")
	requests(r.Summary.Requests)
	return lines
}

// timing is that of a workspace, whether it came up or not; nil if there is none.
func timing(w *v1.Workspace, e *v1.Error) *v1.Timing {
	if e != nil {
		w = e.Workspace
	}
	if w == nil {
		return nil
	}
	return w.Timing
}
