package ssh

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/sshconfig"
	"github.com/berthdev/berth/internal/terminal/result"
)

// plan is what becomes of the two files.
type plan struct{ own, user sshconfig.Change }

func (p plan) none() bool { return p.own.None() && p.user.None() }

// plan reads both files, and says what becomes of them.
func (o *ConfigOptions) plan(places Places) (p plan, err error) {
	if p.own, err = o.Read(places.Own); err != nil {
		return p, err
	}
	if p.user, err = o.Read(places.User); err != nil {
		return p, err
	}
	if o.Remove {
		p.own.New, err = sshconfig.RemoveBlock(p.own.Old, o.Block.Name)
	} else {
		p.own.New, err = sshconfig.SetBlock(p.own.Old, o.Block)
	}
	if err != nil {
		foreign := *fault.From(err)
		foreign.Message = places.Own + ": " + foreign.Message
		return p, &foreign
	}
	switch {
	case !o.Remove:
		p.user.New = sshconfig.Include(p.user.Old, places.Include)
	case len(p.own.New) == 0 && p.user.Old != nil:
		p.user.New = append([]byte{}, sshconfig.Exclude(p.user.Old, places.Include)...)
	}
	if len(p.user.New) == 0 && len(p.user.Old) > 0 && !p.user.Linked() {
		p.user.New = nil // it was made for the line
	}
	return p, nil
}

// check refuses options that ssh does not know: with one of them in a file that is included, ssh connects with no host
// at all. Those of Windows' ssh may be others.
func (o *ConfigOptions) check(ctx context.Context, p plan) error {
	if o.Remove || o.Windows || o.Check == nil || len(o.Block.Options) == 0 {
		return nil
	}
	return o.Check(ctx, p.own.New, "x."+sshconfig.DomainOf(o.Block.Name))
}

// document is the plan as it is shown: nothing has been written yet.
func (o *ConfigOptions) document(p plan) (doc result.SSHConfiguration, err error) {
	doc.Name, doc.Pattern = o.Block.Name, "*."+sshconfig.DomainOf(o.Block.Name)
	doc.Removal, doc.DryRun, doc.Flags = o.Remove, o.DryRun, o.Flags
	if !o.Remove {
		doc.Hosts = o.Block.HostNames()
	}
	for _, c := range []sshconfig.Change{p.own, p.user} {
		file := v1.SSHFile{Path: c.Path, Change: v1.SSHFileUnchanged}
		switch {
		case c.None():
		case c.Old == nil:
			file.Change = v1.SSHFileCreated
		case c.Removes():
			file.Change = v1.SSHFileRemoved
		default:
			file.Change = v1.SSHFileChanged
		}
		if !c.None() {
			if file.Diff, err = difference(c); err != nil {
				return doc, err
			}
		}
		doc.Files = append(doc.Files, file)
	}
	return doc, nil
}

// difference is what changes in a file, as diff shows it.
func difference(c sshconfig.Change) (string, error) {
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines(c.Old), B: lines(c.New), FromFile: name(c.Path, c.Old), ToFile: name(c.Path, c.New), Context: 2,
	})
}

// lines are those of a text; the last one may have no end.
func lines(text []byte) (all []string) {
	for line := range bytes.Lines(text) {
		all = append(all, strings.TrimRight(string(line), "\r\n")+"\n")
	}
	return all
}

// name is a file in a difference; one that is not there has that of diff.
func name(path string, text []byte) string {
	if text == nil {
		return os.DevNull
	}
	return path
}

// write makes the changes that were shown. Another run at the same time comes before or after it.
func (o *ConfigOptions) write(places Places, shown plan) error {
	unlock, err := sshconfig.Lock(filepath.Dir(places.Own))
	if err != nil {
		return err
	}
	defer unlock()
	now, err := o.plan(places)
	if err != nil {
		return err
	}
	if !bytes.Equal(now.own.Old, shown.own.Old) || !bytes.Equal(now.user.Old, shown.user.Old) {
		return fault.New(fault.Conflict, "the configuration has changed meanwhile").
			WithHint("see what would change now: run it again")
	}
	order := []sshconfig.Change{now.own, now.user}
	if o.Remove {
		slices.Reverse(order)
	} else if err := places.Known(); err != nil {
		return err
	}
	for _, c := range order {
		if c.None() {
			continue
		}
		if err := c.Write(); err != nil {
			return fault.New(fault.Failed, "%w", err)
		}
	}
	return nil
}
