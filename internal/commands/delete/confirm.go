package delete

import (
	"cmp"
	"context"
	"slices"

	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
)

// asks says whether a question can be asked, and is wanted.
func (o *Options) asks() bool { return !o.Yes && o.DryRun == "" && o.IO.CanAsk() }

// confirm says which files are in no storage, names the storage that would be deleted, and asks; of
// an owner's workspaces, which have been listed, in any case. Where nobody can be asked, it only says
// the former. A workspace whose storage cannot be read gets the error, and is not deleted.
func (o *Options) confirm(ctx context.Context, p *provision.Provisioner, removals []batch.Workspace) error {
	losing := batch.Losing(removals)
	if len(losing) > 0 && o.DryRun == "" {
		printer.PrintNote(o.IO, batch.Lost(losing, o.KeepStorage))
	}
	if !o.asks() {
		return nil
	}
	all := o.storage(ctx, p, removals)
	known := readable(removals) // the storage of some may not be
	if len(all)+len(losing) == 0 && !o.ByOwner || len(known) == 0 {
		return nil
	}
	if len(all) > 0 {
		if err := o.show(listing{all, o.Many()}); err != nil {
			return err
		}
	}
	return batch.Confirm(ctx, o.IO, o.question(known, len(all) > 0), done)
}

// readable are the workspaces that were found and read.
func readable(all []batch.Workspace) []batch.Workspace {
	return slices.DeleteFunc(slices.Clone(all), func(m batch.Workspace) bool { return m.Target == nil || m.Err != nil })
}

// show prints what a question is about, where it is asked.
func (o *Options) show(about result.Kind) error {
	onErr := o.IO
	onErr.Out = o.IO.Err // a question is not a result
	return printer.Print(onErr, printer.Format{}, about)
}

func (o *Options) question(removals []batch.Workspace, storage bool) string {
	question := "Delete " + cmp.Or(removals[0].Typed, removals[0].UserString, removals[0].ID)
	if o.Many() {
		question = "Delete " + english.Plural(len(removals), "workspace")
	}
	if o.ByOwner {
		question += " of " + o.Owner
	}
	switch {
	case storage:
		question += " and the storage"
	case o.KeepStorage:
		question += " and keep any storage"
	}
	return question + "?"
}

// stored is one storage, and whose it is.
type stored struct {
	of string
	provision.Storage
}

// storage is what would be deleted with the workspaces.
func (o *Options) storage(ctx context.Context, p *provision.Provisioner, removals []batch.Workspace) []stored {
	if o.KeepStorage {
		return nil
	}
	each := make([][]stored, len(removals))
	batch.ForEach(len(removals), o.Parallel, func(i int) {
		m := &removals[i]
		if m.Target == nil || m.Err != nil {
			return
		}
		var all []provision.Storage
		all, m.Err = p.Storage(ctx, m.Target)
		for _, s := range all {
			each[i] = append(each[i], stored{m.ID, s})
		}
	})
	return slices.Concat(each...)
}

// listing are the storages that the question is about.
type listing struct {
	all  []stored
	many bool
}

// Text is a table of them.
func (l listing) Text(p style.Page) ([]string, error) {
	of, name := style.Column{Title: "WORKSPACE", Name: true, Least: 12},
		style.Column{Title: "STORAGE", Name: true, Least: 8}
	capacity, used := style.Column{Title: "CAPACITY"}, style.Column{Title: "USED"}
	claim := style.Column{Title: "CLAIM", Name: true, Least: 12, DropOrder: 1}
	for _, s := range l.all {
		bytes := ""
		if s.Used != nil {
			bytes = style.Bytes(*s.Used)
		}
		of.Cells, name.Cells = append(of.Cells, p.Text(s.of)), append(name.Cells, p.Text(s.Name))
		capacity.Cells = append(capacity.Cells, style.OrDash(p.Text(s.Capacity)))
		used.Cells = append(used.Cells, style.OrDash(bytes))
		claim.Cells = append(claim.Cells, p.Text(s.Claim))
	}
	columns := []style.Column{of, name, capacity, used, claim}
	if !l.many {
		columns = columns[1:]
	}
	return style.Table(columns, p.Room, p.Styles), nil
}
