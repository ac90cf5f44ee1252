package chosen

import (
	"cmp"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Batch is what the progress of a command with such a verb is about; again is the command
// that goes on. Where workspaces of several namespaces are worked on, whose IDs may be the
// same, they go by namespace and ID.
func (c Choice) Batch(namespace string, all []Workspace, verb, again string, flags []string) wording.Batch {
	b := wording.Batch{Single: !c.Many(), Namespace: namespace, Parallel: c.Parallel, Flags: flags, Again: again}
	severalNamespaces := false
	for _, w := range all {
		severalNamespaces = severalNamespaces || w.Namespace != namespace
	}
	for _, w := range all {
		title := wording.Title{UserString: cmp.Or(w.Typed, w.UserString), ID: w.ID, Namespace: w.Namespace, Verb: verb, Flags: flags}
		if severalNamespaces && c.Many() {
			b.Namespace, title.UserString, title.ID = "", "", w.Namespace+"/"+w.ID
		}
		b.Members = append(b.Members, title)
	}
	return b
}

// OrDenied is the permission that was missing to see whether there is such a workspace, if
// that is why it was not found: what could not be seen is not gone.
func OrDenied(err error) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	if cause := fault.From(err).Err; fault.CodeOf(cause) == fault.PermissionDenied {
		return cause
	}
	return err
}
