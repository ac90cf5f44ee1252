package result

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Workspaces is a list of workspaces.
type Workspaces struct {
	v1.WorkspaceList
	Table Table `json:"-"`
}

// Table says how a list of workspaces looks as a table.
type Table struct {
	// Namespaces adds the namespace as the first column: for lists of several.
	Namespaces bool
	NoHeaders  bool
}

// Names are the IDs.
func (l Workspaces) Names() []string {
	names := make([]string, len(l.WorkspaceList.Items))
	for i, w := range l.WorkspaceList.Items {
		names[i] = w.ID
	}
	return names
}

// Items are the workspaces.
func (l Workspaces) Items() []Kind {
	items := make([]Kind, len(l.WorkspaceList.Items))
	for i, w := range l.WorkspaceList.Items {
		items[i] = Workspace{w}
	}
	return items
}

// Empty is the remark about an empty list.
func (l Workspaces) Empty() string {
	if len(l.WorkspaceList.Items) > 0 {
		return ""
	}
	return "no workspaces"
}

// Text is a table and, at a terminal, which may cut it, the command for those without a pod.
func (l Workspaces) Text(p style.Page) ([]string, error) {
	p = p.Table()
	lines := style.Table(l.Columns(p), p.Room, p.Styles)
	if l.Table.NoHeaders {
		return lines[1:], nil
	}
	if p.Room > 0 {
		lines = append(lines, wording.CommandLines(l.next(p.Flags), p)...)
	}
	return lines, nil
}

// mostNamed is how many workspaces one proposed command has at most.
const mostNamed = 3

// next brings back the first ones whose pod is gone, of one namespace.
func (l Workspaces) next(flags []string) []wording.Command {
	gone := slices.DeleteFunc(slices.Clone(l.WorkspaceList.Items),
		func(w v1.Workspace) bool { return !w.Gone || !w.Startable })
	if len(gone) == 0 {
		return nil
	}
	words := []string{"berth", "start"}
	for _, w := range gone[:min(len(gone), mostNamed)] {
		if w.Namespace == gone[0].Namespace {
			words = append(words, fault.Word(wording.Title{UserString: w.UserString, ID: w.ID}.Target()))
		}
	}
	if l.Table.Namespaces {
		flags = append(wording.WithoutNamespace(flags), wording.Flag("--namespace", gone[0].Namespace))
	}
	return []wording.Command{{Line: strings.Join(append(words, flags...), " "), Why: "bring back what has no pod"}}
}

// Columns are the columns of that table: with user strings, if they fit as they are typed.
func (l Workspaces) Columns(p style.Page) []style.Column {
	if with := l.columns(p, true); p.Room == 0 || style.Least(with) <= p.Room {
		return with
	}
	return l.columns(p, false)
}

func (l Workspaces) columns(p style.Page, userStrings bool) []style.Column {
	items := l.WorkspaceList.Items
	var cols []style.Column
	add := func(c style.Column, cell func(v1.Workspace) string) {
		for _, w := range items {
			c.Cells = append(c.Cells, p.Text(cell(w)))
		}
		cols = append(cols, c)
	}
	namespace := func(spare int) {
		add(style.Column{Title: "NAMESPACE", Name: true, Least: 9, DropOrder: spare},
			func(w v1.Workspace) string { return w.Namespace })
	}
	if l.Table.Namespaces {
		namespace(0)
	}
	owner, blueprint := 1, 2
	if userStrings {
		owner, blueprint = 0, 4 // most user strings have the blueprint
		add(style.Column{Title: "USERSTRING"}, func(w v1.Workspace) string { return style.OrDash(w.UserString) })
	}
	add(style.Column{Title: "NAME", Name: true, Least: 16}, func(w v1.Workspace) string { return w.ID })
	add(style.Column{Title: "OWNER", Name: true, Least: 8, DropOrder: owner},
		func(w v1.Workspace) string { return style.OrDash(w.Owner) })
	add(style.Column{Title: "BLUEPRINT", Name: true, Least: 9, DropOrder: blueprint},
		func(w v1.Workspace) string { return style.OrDash(w.Blueprint) })
	add(style.Column{Title: "STAGE", Style: func(row int) lipgloss.Style { return p.Stage(items[row].Stage) }},
		func(w v1.Workspace) string { return string(w.Stage) })
	add(style.Column{Title: "AGE"}, func(w v1.Workspace) string { return style.Age(w.CreatedAt, p.Now) })
	add(style.Column{Title: "RESTARTS", DropOrder: 3},
		func(w v1.Workspace) string { return strconv.Itoa(w.Restarts()) })
	if p.Wide && !l.Table.Namespaces {
		namespace(6)
	}
	if p.Wide {
		add(style.Column{Title: "NODE", Name: true, Least: 10, DropOrder: 5},
			func(w v1.Workspace) string { return style.OrDash(w.Node) })
		add(style.Column{Title: "WORKLOAD", Name: true, Least: 10, DropOrder: 7},
			func(w v1.Workspace) string { return style.OrDash(w.Workload) })
		add(style.Column{Title: "IMAGE", Image: true, Least: 12, DropOrder: 8},
			func(w v1.Workspace) string { return style.OrDash(w.MainImage()) })
	}
	if p.Wide && slices.ContainsFunc(items, hasNext) {
		add(style.Column{Title: "LIMIT", DropOrder: 9},
			func(w v1.Workspace) string { return style.OrDash(limitOf(w, p.Now)) })
	}
	add(style.Column{Title: "WHY", Least: leastWhy(items)}, func(w v1.Workspace) string { return why(w, p.Now) })
	return cols
}

// leastWhy is how narrow the last column may get: the code of a cause is worth more than
// the columns that can be left out.
func leastWhy(items []v1.Workspace) int {
	least := 12
	for _, w := range items {
		if c := wording.Lasting(w.Cause); c != nil {
			least = max(least, style.Width(c.Code)+1) // and the sign that more was cut
		}
	}
	return min(least, mostCode)
}

// mostCode is as wide as the longest code of a cause.
const mostCode = 25

// why is what keeps a workspace from running, and since when.
func why(w v1.Workspace, now time.Time) string {
	if s := w.State; s != nil && s.Desired == v1.DesiredTerminated && w.Stage != v1.StageTerminating {
		return "it is being deleted (" + style.Age(s.DesiredAt, now) + ")"
	}
	if s := w.State; s != nil && w.Stage == v1.StageRunning && s.Desired != v1.DesiredRunning {
		return "it is to be " + string(s.Desired) + " (" + style.Age(s.DesiredAt, now) + ")"
	}
	if c := wording.Lasting(w.Cause); c != nil && c.Message != "" {
		return wording.CauseInShort(*c)
	}
	if w.Stage == v1.StageRunning || w.Message == "" {
		return ""
	}
	if w.Since.IsZero() {
		return w.Message
	}
	return w.Message + " (" + style.Age(w.Since, now) + ")"
}

// limitOf is what a limit makes of a workspace, in a list.
func limitOf(w v1.Workspace, now time.Time) string {
	if !hasNext(w) {
		return ""
	}
	return due(*w.State.Next, now)
}

// Reconciliation is what one exchange over workspaces did.
type Reconciliation struct {
	v1.WorkspaceReconciliation
	Namespaces bool `json:"-"` // are shown
}

// Names are the IDs.
func (r Reconciliation) Names() (names []string) {
	for _, w := range r.Items {
		names = append(names, w.ID)
	}
	return names
}

// Empty is the remark about an exchange in which there was nothing to do.
func (r Reconciliation) Empty() string {
	if len(r.Items) > 0 {
		return ""
	}
	return "nothing to do"
}

// Text is a table.
func (r Reconciliation) Text(p style.Page) ([]string, error) {
	cols := []style.Column{
		{Title: "NAME", Name: true, Least: 16},
		{Title: "DESIRED"},
		{Title: "ACTUAL"},
		{Title: "DONE"},
		{Title: "WHY", Least: 12},
	}
	cells := func(w v1.ReconciledWorkspace) []string {
		return []string{w.ID, string(w.Desired), string(w.Actual), outcome(w), reason(w)}
	}
	if !r.Namespaces {
		return style.Rows(cols, r.Items, p, cells), nil
	}
	cols = append([]style.Column{{Title: "NAMESPACE", Name: true, Least: 9}}, cols...)
	return style.Rows(cols, r.Items, p,
		func(w v1.ReconciledWorkspace) []string { return append([]string{w.Namespace}, cells(w)...) }), nil
}

// outcome is what was done.
func outcome(w v1.ReconciledWorkspace) string {
	if w.Error != nil {
		return "failed"
	}
	return style.OrDash(map[string]string{"start": "started", "stop": "stopped", "delete": "deleted"}[w.Done])
}

// reason is why something was done, or why it could not be.
func reason(w v1.ReconciledWorkspace) string {
	if w.Error != nil {
		return w.Error.Message
	}
	return w.Reason
}
