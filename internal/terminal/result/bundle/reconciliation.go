package bundle

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Reconciliation is what one pass over all objects did.
type Reconciliation struct{ v1.BundleReconciliation }

// Names are kind/name of each object.
func (r Reconciliation) Names() (names []string) {
	for _, o := range r.Items {
		names = append(names, o.Object)
	}
	return names
}

// Empty is the remark about an empty pass.
func (r Reconciliation) Empty() string {
	if len(r.Items) > 0 {
		return ""
	}
	return "there are no bundles and no instances"
}

// Text is a table.
func (r Reconciliation) Text(p style.Page) ([]string, error) {
	return table(p, r.Items,
		column[v1.ReconciledObject]{
			style.Column{Title: "OBJECT", Name: true, Least: 16},
			func(o v1.ReconciledObject) string { return o.Object },
		},
		column[v1.ReconciledObject]{style.Column{Title: "RESULT"}, outcome},
		column[v1.ReconciledObject]{style.Column{Title: "WHY", Least: 12}, reason},
	), nil
}

func outcome(o v1.ReconciledObject) string {
	if o.Error != nil {
		return "failed"
	}
	return "done"
}

func reason(o v1.ReconciledObject) string {
	if o.Error == nil {
		return ""
	}
	return o.Error.Message
}
