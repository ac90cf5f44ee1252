package commands

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/blueprint"
	"github.com/berthdev/berth/internal/commands/bundle"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/commands/cp"
	deletion "github.com/berthdev/berth/internal/commands/delete"
	"github.com/berthdev/berth/internal/commands/diagnose"
	"github.com/berthdev/berth/internal/commands/doctor"
	"github.com/berthdev/berth/internal/commands/exec"
	"github.com/berthdev/berth/internal/commands/explain"
	"github.com/berthdev/berth/internal/commands/jobs"
	"github.com/berthdev/berth/internal/commands/logs"
	"github.com/berthdev/berth/internal/commands/portforward"
	"github.com/berthdev/berth/internal/commands/provision"
	"github.com/berthdev/berth/internal/commands/reconcile"
	"github.com/berthdev/berth/internal/commands/resolve"
	"github.com/berthdev/berth/internal/commands/restart"
	"github.com/berthdev/berth/internal/commands/serve"
	"github.com/berthdev/berth/internal/commands/ssh"
	"github.com/berthdev/berth/internal/commands/start"
	"github.com/berthdev/berth/internal/commands/status"
	"github.com/berthdev/berth/internal/commands/stop"
	"github.com/berthdev/berth/internal/commands/topics"
	"github.com/berthdev/berth/internal/commands/update"
	"github.com/berthdev/berth/internal/commands/version"
	"github.com/berthdev/berth/internal/commands/volume"
	"github.com/berthdev/berth/internal/terminal"
)

const about = `berth brings up a ready workspace on Kubernetes, shows live what is happening, and
lets you in. Nothing has to be installed in the cluster first.

  berth provision alice        a workspace for alice, from the default blueprint
  berth provision alice~dev    from the blueprint dev
  berth exec alice~dev         enter it
  berth status                 list the workspaces
  berth diagnose alice~dev     explain why it does not start
  berth delete alice~dev       delete it

kubectl's flags for choosing a cluster work here, too.`

// Tree is the whole command line, to be read and not to be run: what the reference,
// the man pages and the completions are made of.
func Tree() *cobra.Command {
	return newRoot(cmdutil.NewFactory(terminal.Streams{}, os.Getenv))
}

// addVersionFlag adds --version. Cobra's own prints by text/template, which keeps every method of the program:
// third_party/template.
func addVersionFlag(root *cobra.Command, io terminal.Streams) {
	asked := root.Flags().BoolP("version", "v", false, "version for berth")
	help := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if !*asked {
			return help(cmd, args)
		}
		_, err := fmt.Fprintf(io.Out, "berth %s\n", cmdutil.Version().Version)
		return err
	}
}

// Paths are the commands that do something, such as "berth bundle install", for tests that try each.
func Paths() []string { return pathsBelow(Tree()) }

func pathsBelow(c *cobra.Command) (paths []string) {
	if !c.HasSubCommands() && c.Runnable() && !c.Hidden {
		return []string{c.CommandPath()}
	}
	for _, sub := range c.Commands() {
		paths = append(paths, pathsBelow(sub)...)
	}
	return paths
}

func newRoot(f *cmdutil.Factory) *cobra.Command {
	root := cmdutil.Group(&cobra.Command{
		Use:               "berth",
		Short:             "A ready workspace on Kubernetes, from the terminal",
		Long:              about,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	})
	addVersionFlag(root, f.IO)
	root.SetIn(f.IO.In)
	root.SetOut(f.IO.Out)
	root.SetErr(f.IO.Err)
	root.SetFlagErrorFunc(cmdutil.UsageError)
	f.AddKubeFlags(root.PersistentFlags())
	f.CompleteKubeFlags(root)

	const work, bundles, other = "work", "bundles", "other"
	root.AddGroup(&cobra.Group{ID: work, Title: "Workspaces:"}, &cobra.Group{ID: bundles, Title: "Bundles:"},
		&cobra.Group{ID: other, Title: "Other:"})
	root.SetHelpCommandGroupID(other)
	root.SetCompletionCommandGroupID(other)
	add := func(group string, commands ...*cobra.Command) {
		for _, command := range commands {
			command.GroupID = group
			root.AddCommand(command)
		}
	}
	add(work, provision.NewCmd(f, provision.Run), status.NewCmd(f, status.Run), exec.NewCmd(f, exec.Run),
		ssh.NewCmd(f, ssh.Run), ssh.NewOpenCmd(f, ssh.Open),
		cp.NewCmd(f, cp.Run), portforward.NewCmd(f, portforward.Run), logs.NewCmd(f, logs.Run),
		diagnose.NewCmd(f, diagnose.Run), explain.NewCmd(f, explain.Run), stop.NewCmd(f, stop.Run),
		start.NewCmd(f, start.Run), restart.NewCmd(f, restart.Run), update.NewCmd(f, update.Run),
		deletion.NewCmd(f, deletion.Run), reconcile.NewCmd(f, reconcile.Run), resolve.NewCmd(f, resolve.Run),
		jobs.NewCmd(f, jobs.Run))
	add(bundles, bundle.NewCmd(f), serve.NewCmd(f))
	add(other, blueprint.NewCmd(f), volume.NewCmd(f), doctor.NewCmd(f, doctor.Run), version.NewCmd(f, version.Run))
	root.AddCommand(topics.New()...)
	cmdutil.CheckTopics(root)
	cmdutil.CheckShells(root)
	cmdutil.FitHelp(root, f.IO.Out)
	return root
}
