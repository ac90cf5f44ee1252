package cmdutil

import (
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/sshconfig"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// SSHDir is where the host key and berth's own configuration of ssh are.
func (f *Factory) SSHDir() (string, error) {
	dir, err := config.Dir(f.Getenv)
	return filepath.Join(dir, "ssh"), err
}

// SSHFile is berth's own configuration of ssh, in that directory.
const SSHFile = "config"

// HasSSH is true if there is a client of SSH here, which `berth ssh` takes.
func HasSSH() bool {
	_, err := exec.LookPath("ssh")
	return err == nil
}

// FollowHosts gives what brings the lists of `berth ssh config --list` up to date with the result of a command: with
// the workspaces that it has made or deleted. That they are not is a warning, as the command has done its work.
func (f *Factory) FollowHosts(cmd *cobra.Command) func(v1.Result) {
	return func(r v1.Result) {
		if err := f.followHosts(cmd, movesOf(r)); err != nil {
			printer.PrintWarning(f.IO, "could not update the workspaces that your configuration of ssh lists: "+
				err.Error())
		}
	}
}

// followHosts reads one small file, if there is one, and looks further only if it lists what has moved.
func (f *Factory) followHosts(cmd *cobra.Command, moves []sshconfig.Move) error {
	dir, err := f.SSHDir()
	if err != nil || len(moves) == 0 {
		return nil // without a directory there is no configuration
	}
	own := filepath.Join(dir, SSHFile)
	c, err := sshconfig.Read(own)
	if err != nil || !sshconfig.Follows(c.Old, moves) {
		return unlessMissing(err)
	}
	env, flags, err := f.Pinned(sshconfig.Deciding(ClusterArguments(cmd)))
	if err != nil {
		return err
	}
	words := slices.Concat(env, flags)
	if c.New = sshconfig.Follow(c.Old, words, moves); c.None() {
		return nil
	}
	unlock, err := sshconfig.Lock(dir)
	if err != nil {
		return err
	}
	defer unlock()
	if c, err = sshconfig.Read(own); err != nil { // another command may have written it since
		return unlessMissing(err)
	}
	if c.New = sshconfig.Follow(c.Old, words, moves); c.None() {
		return nil
	}
	return c.Write()
}

// unlessMissing leaves out the error about a file or directory that is not there.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// movesOf are the workspaces that a command has made, also if they do not run yet or have failed, and those that it
// has deleted.
func movesOf(r v1.Result) (moves []sshconfig.Move) {
	add := func(w *v1.Workspace, d *v1.Deletion, e *v1.Error) {
		gone := false
		if e != nil && e.Workspace != nil && (e.Left != "" || !e.Workspace.CreatedAt.IsZero()) {
			w, gone = e.Workspace, e.Left == v1.LeftDeleted
		}
		switch {
		case d != nil:
			moves = append(moves, sshconfig.Move{Namespace: d.Namespace, ID: d.ID, Gone: true})
		case w != nil:
			moves = append(moves, sshconfig.Move{Namespace: w.Namespace, ID: w.ID, Gone: gone})
		}
	}
	add(r.Workspace, r.Deletion, r.Error)
	if r.Summary != nil {
		for _, item := range r.Summary.Items {
			add(item.Workspace, nil, item.Error)
		}
	}
	if r.Deletions != nil {
		for _, item := range r.Deletions.Items {
			add(nil, item.Deletion, item.Error)
		}
	}
	return moves
}
