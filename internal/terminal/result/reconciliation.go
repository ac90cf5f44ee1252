package result

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

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
		return table(cols, r.Items, p, cells), nil
	}
	cols = append([]style.Column{{Title: "NAMESPACE", Name: true, Least: 9}}, cols...)
	return table(cols, r.Items, p,
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
