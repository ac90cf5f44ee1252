package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
)

// removals are four: one removed, one not waited for, one that was not there,
// one that failed.
func removals() (Batch, []v1.Event) {
	b := Batch{Namespace: "workspaces", Parallel: 4, Again: "berth delete a b c d --ignore-not-found"}
	results := []v1.Result{
		{Deletion: &v1.Deletion{Objects: 6, Seconds: 1.5, Gone: true}},
		{Deletion: &v1.Deletion{Objects: 1, Seconds: 0.5}},
		{Deletion: &v1.Deletion{NotFound: true, Gone: true}},
		{Error: &v1.Error{Code: "NOT_FOUND", ExitStatus: 7, Message: "there is no workspace d", Hint: "look elsewhere"}},
	}
	summary := &v1.DeletionSummary{Succeeded: 3, Failed: 1, ExitStatus: 3, Seconds: 1.5}
	var events []v1.Event
	for i, name := range []string{"a", "b", "c", "d"} {
		b.Members = append(b.Members, Title{UserString: name, ID: name + "-1234567", Namespace: "workspaces", Verb: "delete"})
		events = append(events, v1.Event{At: t0.Add(time.Second), Workspace: name + "-1234567", Outcome: &results[i]})
		summary.Items = append(summary.Items, v1.DeletionItem{ID: name + "-1234567", Deletion: results[i].Deletion, Error: results[i].Error})
	}
	return b, append(events, v1.Event{At: t0.Add(1500 * ms), Result: &v1.Result{Deletions: summary}})
}

func TestRemovalsAtATerminal(t *testing.T) {
	b, events := removals()
	c := newCrowd(b)
	for _, e := range events {
		c.handle(e)
	}
	text := ansi.Strip(strings.Join(c.ending(view{width: 100, now: t0, st: newStyles(colourLook)}), "\n"))
	for _, want := range []string{
		"4 workspaces in workspaces", "✔ a  Deleted", "6 objects", "1 object, the pod may still be ending", "it was not there",
		"✘ d  Failed", "3 of 4 deleted after 1.5s", "1 failed", "there is no workspace d", "look elsewhere", "berth delete a b c d --ignore-not-found", "try again what is not deleted",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "berth diagnose") {
		t.Errorf("there is nothing to diagnose:\n%s", text)
	}
}

func TestRemovalsPlain(t *testing.T) {
	b, events := removals()
	var out bytes.Buffer
	p := newPlainMany(Output{Writer: &out}, b)
	for _, e := range events {
		p.Handle(e)
	}
	for _, want := range []string{
		"a-1234567 deleted: 6 objects in 1.5s", "b-1234567 deleted: 1 object in 0.5s, the pod may still be ending",
		"c-1234567 deleted: it was not there", "summary: 3 of 4 deleted after 1.5s, 1 failed", "d-1234567 summary NOT_FOUND: d: there is no workspace d",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// What is left of a workspace that failed is said in a line, and only what there
// is is proposed to be removed.
func TestLeft(t *testing.T) {
	for left, test := range map[v1.Left]struct{ says, notSays string }{
		v1.LeftKept:    {"what was created is kept; this removes it", "removed what was created"},
		v1.LeftDeleted: {"removed what was created", "berth delete"},
	} {
		e := v1.Error{Code: "FAILED", Message: "no", Left: left, Workspace: &v1.Workspace{CreatedAt: t0}}
		m := &model{title: alice, result: &v1.Result{Error: &e}}
		v := view{width: 100, now: t0, st: newStyles(colourLook)}
		text := ansi.Strip(strings.Join(summary(m, v), "\n"))
		if !strings.Contains(text, test.says) || strings.Contains(text, test.notSays) {
			t.Errorf("%s:\n%s", left, text)
		}
	}
}
