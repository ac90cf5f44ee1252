package chosen

import (
	"cmp"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Batch is what the progress of a command with such a verb is about; again is the command
// that goes on with such a choice. Where workspaces of several namespaces are worked on, whose
// IDs may be the same, they go by namespace and ID.
func (c Choice) Batch(namespace string, all []Workspace, verb string, again func(Choice) string, flags []string) wording.Batch {
	b := wording.Batch{Single: !c.Many(), Namespace: namespace, Parallel: c.Parallel, Flags: flags, Again: again(c)}
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
	if !c.ByOwner || !severalNamespaces {
		b.AgainFor = func(members []int) string { return again(c.of(all, members)) }
	}
	return b
}

// of is the choice of some of the workspaces alone, which are in one namespace or were typed.
func (c Choice) of(all []Workspace, members []int) Choice {
	some := Choice{Parallel: c.Parallel}
	for _, i := range members {
		some.Args = append(some.Args, cmp.Or(all[i].Typed, all[i].UserString, "id/"+all[i].ID))
	}
	return some
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
