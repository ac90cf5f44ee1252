package result

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/registry/image"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Workspace is one workspace in full.
type Workspace struct{ v1.Workspace }

// Names are its ID.
func (w Workspace) Names() []string { return []string{w.ID} }

// Text is everything about it.
func (w Workspace) Text(p style.Page) ([]string, error) {
	lines := w.facts(p)
	lines = append(lines, style.Paragraph(containerTable(w.Containers, p))...)
	lines = append(lines, style.Paragraph(replicaTable(w.Replicas, p))...)
	lines = append(lines, style.Paragraph(scriptTable(w.Scripts, p))...)
	lines = append(lines, w.scriptOutput(p)...)
	lines = append(lines, style.Paragraph(wording.WarningLines(w.Warnings, p))...)
	lines = append(lines, style.Paragraph(wording.UnreadLines(w.Unread, p))...)
	lines = append(lines, style.Paragraph(eventTable(w.Events, p))...)
	return append(lines, wording.CommandLines(w.next(p.Flags), p)...), nil
}

// facts are the lines of a name and a value.
func (w Workspace) facts(p style.Page) []string {
	cause := ""
	if c := wording.Lasting(w.Cause); c != nil {
		cause = p.Text(wording.CauseText(*c))
	}
	return p.Labels([][2]string{
		{"Name", style.Paint(p.Bold, p.Text(w.ID))},
		{"Namespace", p.Text(w.Namespace)},
		{"User string", p.Text(w.UserString)},
		{"Owner", p.Text(w.Owner)},
		{"Blueprint", p.Text(w.Blueprint)},
		{"Workload", p.Text(w.Workload)},
		{"Stage", w.stage(p)},
		{"Wanted", w.wanted(p)},
		{"Limit", w.limit(p)},
		{"Why", cause},
		{"Node", p.Text(w.Node)},
		{"Created", created(w.CreatedAt, p)},
		{"Job", p.Text(w.JobID)},
	})
}

// stage is the stage, since when, and what it is about.
func (w Workspace) stage(p style.Page) string {
	text := style.Paint(p.Stage(w.Stage), string(w.Stage))
	if !w.Since.IsZero() {
		text += " for " + style.Age(w.Since, p.Now)
	}
	if w.Status == v1.StatusStopping {
		text += ", stopping on request"
	}
	if w.Gone && !w.Startable && !w.Kept {
		text += " (its pod is gone)"
	}
	if w.Message != "" && (w.Cause == nil || w.Message != w.Cause.Message) {
		text += ": " + p.Text(w.Message)
	}
	return text
}

// wanted is its desired state, if it is in another one.
func (w Workspace) wanted(p style.Page) string {
	s := w.State
	if s == nil || string(s.Desired) == string(s.Actual) || s.Desired == v1.DesiredRunning &&
		w.Verdict() != v1.VerdictTerminating {
		return ""
	}
	return p.Text(string(s.Desired)) + " for " + style.Age(s.DesiredAt, p.Now)
}

func created(at time.Time, p style.Page) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339) + " (" + style.Age(at, p.Now) + " ago)"
}

// next are the commands to type next for a workspace in this state.
func (w Workspace) next(flags []string) []wording.Command {
	t := wording.Title{UserString: w.UserString, ID: w.ID, Flags: flags}
	diagnose := wording.Command{Line: t.Command("diagnose"), Why: "everything that is known about it"}
	start := startAgain(t)
	switch w.Verdict() {
	case v1.VerdictRunning:
		return []wording.Command{{Line: t.Command("exec")}}
	case v1.VerdictStopped:
		return []wording.Command{startIt(t)}
	case v1.VerdictGone:
		if w.Startable {
			return []wording.Command{start}
		}
	case v1.VerdictFailed:
		remove := wording.Command{Line: t.Command("delete"), Why: "delete it"}
		if w.Startable {
			return []wording.Command{start, diagnose, remove}
		}
		return []wording.Command{diagnose, remove}
	case v1.VerdictWaiting:
		if w.UserString == "" { // what to provision is not known
			return []wording.Command{diagnose}
		}
		return []wording.Command{{Line: t.Command("provision"), Why: "follow it"}, diagnose}
	}
	return nil
}

// startIt starts a workspace that is stopped.
func startIt(t wording.Title) wording.Command {
	return wording.Command{Line: t.Command("start"), Why: "start it"}
}

// startAgain brings back a workspace whose pod is gone, or over.
func startAgain(t wording.Title) wording.Command {
	return wording.Command{Line: t.Command("start"), Why: "bring it back"}
}

func containerTable(cs []v1.Container, p style.Page) []string {
	cols := []style.Column{
		{Title: "CONTAINER", Name: true, Least: 12},
		{Title: "STATE", Least: 24, Style: func(row int) lipgloss.Style { return p.Container(cs[row].State) }},
		{Title: "RESTARTS", DropOrder: 1},
		{Title: "IMAGE", Image: true, Least: 12},
	}
	return style.Rows(cols, cs, p, func(c v1.Container) []string {
		name, ref := c.Name, c.Image
		if c.Init {
			name += " (init)"
		}
		if !p.Wide {
			ref = image.Parse(ref).Short()
		}
		restarts := c.Restarts
		c.Restarts = 0 // it has a column of its own
		return []string{name, wording.ContainerText(c), strconv.Itoa(restarts), style.OrDash(ref)}
	})
}

// replicaTable is the pods of a workload that the workspace is a part of.
func replicaTable(rs []v1.Replica, p style.Page) []string {
	cols := []style.Column{
		{Title: "POD", Name: true, Least: 16},
		{Title: "STAGE", Style: func(row int) lipgloss.Style { return p.Stage(rs[row].Stage) }},
		{Title: "NODE", Name: true, Least: 10},
		{Title: "WHY", Least: 12},
	}
	return style.Rows(cols, rs, p, func(r v1.Replica) []string {
		return []string{r.Name, string(r.Stage), style.OrDash(r.Node), r.Message}
	})
}

// eventTable is the Kubernetes events, the one that happened last at the end.
func eventTable(events []v1.ObjectEvent, p style.Page) []string {
	level := func(row int) lipgloss.Style {
		if events[row].Type == "Warning" {
			return p.Yellow
		}
		return lipgloss.Style{}
	}
	cols := []style.Column{
		{Title: "AGE"},
		{Title: "COUNT", DropOrder: 2},
		{Title: "TYPE", DropOrder: 1, Style: level},
		{Title: "REASON", Name: true, Least: 10},
		{Title: "OBJECT", Name: true, Least: 12, DropOrder: 3},
		{Title: "MESSAGE", Least: 16},
	}
	return style.Rows(cols, events, p, func(e v1.ObjectEvent) []string {
		age := style.Age(e.At, p.Now)
		if e.Count > 1 && e.FirstAt.Before(e.At) {
			age += " (over " + style.Age(e.FirstAt, p.Now) + ")"
		}
		return []string{
			age, strconv.Itoa(e.Count), e.Type, e.Reason, e.Object,
			strings.Join(strings.Fields(e.Message), " "),
		}
	})
}

// scriptTable is the init scripts and what has become of them.
func scriptTable(scripts []v1.Script, p style.Page) []string {
	colour := func(row int) lipgloss.Style {
		switch scripts[row].State {
		case v1.ScriptFailed:
			return p.Yellow
		case v1.ScriptDone:
			return p.Green
		}
		return p.Grey
	}
	cols := []style.Column{
		{Title: "SCRIPT", Name: true, Least: 12},
		{Title: "RESULT", Style: colour},
		{Title: "TOOK"},
	}
	several := false
	for _, s := range scripts {
		several = several || s.Object != scripts[0].Object
	}
	if several {
		cols = append(cols, style.Column{Title: "IN", Name: true, Least: 16})
	}
	return style.Rows(cols, scripts, p, func(s v1.Script) []string {
		result, took := string(s.State), "-"
		if s.ExitCode != nil {
			result += fmt.Sprintf(", exit code %d", *s.ExitCode)
		}
		if s.Seconds > 0 {
			took = style.Brief(style.Seconds(s.Seconds))
		}
		return []string{s.Name, result, took, s.Object}[:len(cols)]
	})
}

// scriptOutput is what scripts that have failed have said last, and why that is not known.
func (w Workspace) scriptOutput(p style.Page) []string {
	var lines []string
	for _, s := range w.Scripts {
		if s.State == v1.ScriptFailed {
			lines = append(lines, style.Paragraph(wording.LogLines(&v1.LogTail{Script: s.Name, Lines: s.Lines}, p))...)
		}
	}
	if w.ScriptsUnread != "" {
		text := style.Paint(p.Grey, p.Text("cannot read the init scripts' output: "+w.ScriptsUnread))
		lines = append(lines, style.Paragraph([]string{text})...)
	}
	return lines
}

// limit is what a limit has made of the workspace, and what one will make of it.
func (w Workspace) limit(p style.Page) string {
	var parts []string
	if s := w.State; s != nil && s.Reason != "" {
		parts = append(parts, reached(*s)+" "+style.Age(s.DesiredAt, p.Now)+" ago by "+s.Reason)
	}
	if hasNext(w.Workspace) {
		next := w.State.Next
		parts = append(parts, due(*next, p.Now)+" ("+next.Limit+" of the "+string(next.From)+")")
	}
	return p.Text(strings.Join(parts, "; "))
}

// reached says what a limit has made of a workspace.
func reached(s v1.State) string {
	switch {
	case s.Desired != v1.DesiredStopped:
		return "set to be deleted"
	case s.Actual != v1.ActualStopped:
		return "set to stop"
	}
	return "stopped"
}

// due says what a limit makes of a workspace, and when. A time that is over shows that
// nothing enforces the limit.
func due(next v1.NextState, now time.Time) string {
	stops := next.Desired == v1.DesiredStopped
	switch {
	case next.At.Before(now) && stops:
		return "was to stop " + style.Age(next.At, now) + " ago"
	case next.At.Before(now):
		return "was to be deleted " + style.Age(next.At, now) + " ago"
	case stops:
		return "stops in " + style.Age(now, next.At)
	}
	return "is deleted in " + style.Age(now, next.At)
}

func hasNext(w v1.Workspace) bool { return w.State != nil && w.State.Next != nil }
