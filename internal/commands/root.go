package commands

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/fault"
)

const about = `berth gets you a ready workspace on Kubernetes, tells you live what is
happening, and lets you in. Nothing has to be installed in the cluster first.

  berth provision alice        a workspace for alice, from the default blueprint
  berth provision alice~dev    from the blueprint dev
  berth exec alice~dev         enter it
  berth status                 what there is
  berth diagnose alice~dev     why it does not come up
  berth delete alice~dev       remove it

All of kubectl's flags that say which cluster is meant work here too.`

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:               "berth",
		Short:             "A ready workspace on Kubernetes, from the terminal",
		Long:              about,
		Version:           buildInfo().Version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              unknownCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("berth {{.Version}}\n")
	root.SetIn(a.streams.In)
	root.SetOut(a.streams.Out)
	root.SetErr(a.streams.Err)
	root.SetFlagErrorFunc(usage)
	a.addKubeFlags(root.PersistentFlags())

	root.AddGroup(&cobra.Group{ID: groupWork, Title: "Workspaces:"}, &cobra.Group{ID: groupOther, Title: "Other:"})
	work := []*cobra.Command{
		newProvision(a), newStatus(a), newExec(a), newLogs(a), newDiagnose(a), newDelete(a), newResolve(a), newJobs(a),
	}
	for _, command := range work {
		command.GroupID = groupWork
		root.AddCommand(command)
	}
	for _, command := range []*cobra.Command{newBlueprint(a), newDoctor(a), newVersion(a)} {
		command.GroupID = groupOther
		root.AddCommand(command)
	}
	root.AddCommand(topics()...)
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	return root
}

// unknownCommand refuses what is no command and names those that are like it.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fault.New(fault.InvalidArgument, "there is no command %q", args[0])
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return err.WithHint("did you mean `%s %s`?", cmd.CommandPath(), like[0])
	}
	return err.WithHint("see `%s --help`", cmd.CommandPath())
}

const (
	groupWork  = "work"
	groupOther = "other"
)

// addKubeFlags adds kubectl's own flags for reaching a cluster. All of them
// work; those that few need are not shown in the help of every command.
func (a *app) addKubeFlags(flags *pflag.FlagSet) {
	shown := map[string]bool{"kubeconfig": true, "context": true, "namespace": true}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	a.kube.AddFlags(own)
	own.VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = !shown[flag.Name]
		flags.AddFlag(flag)
	})
	flags.Lookup("kubeconfig").Usage = "the kubeconfig file to use"
	flags.Lookup("context").Usage = "the kubeconfig context to use"
	flags.Lookup("namespace").Usage = "the namespace to work in; the context's if not given"
}
