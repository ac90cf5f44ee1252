package cmdutil

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/volume/nodes"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// CompletionTimeout is how long completion waits for the cluster.
const CompletionTimeout = 2 * time.Second

// NoFlagValues says that there is nothing to complete for the values of flags.
func NoFlagValues(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
}

// CompleteOne completes the one argument of a command.
func CompleteOne(values func(*cobra.Command) ([]cobra.Completion, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, err := values(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteWorkspace completes one workspace by its user string, or its ID if it
// has none.
func (f *Factory) CompleteWorkspace(
	cmd *cobra.Command, args []string, typed string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	return CompleteOne(f.workspaceNames)(cmd, args, typed)
}

// CompleteWorkspaces completes each of several arguments.
func (f *Factory) CompleteWorkspaces(
	cmd *cobra.Command, _ []string, typed string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	return f.CompleteWorkspace(cmd, nil, typed)
}

func (f *Factory) workspaceNames(cmd *cobra.Command) (names []cobra.Completion, err error) {
	list, err := f.list(cmd, fleet.List)
	if err != nil {
		return nil, err
	}
	for _, w := range list.Items {
		name := w.UserString
		if name == "" {
			name = "id/" + w.ID
		}
		names = append(names, cobra.CompletionWithDesc(name, strings.TrimSuffix(stage(w)+", "+w.Blueprint, ", ")))
	}
	return names, nil
}

// WorkspaceIDs are the IDs of the workspaces of the namespace.
func (f *Factory) WorkspaceIDs(cmd *cobra.Command) (ids []string, err error) {
	list, err := f.list(cmd, fleet.Names)
	if err != nil {
		return nil, err
	}
	for _, w := range list.Items {
		if !w.Kept {
			ids = append(ids, w.ID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// stage says of a workspace how it is, in a word or two.
func stage(w v1.Workspace) string {
	switch {
	case w.Kept:
		return "deleted, storage kept"
	case w.Gone && w.Startable:
		return "pod gone"
	}
	return string(w.Stage)
}

// CompleteFrom completes a flag with what the workspaces of the namespace have.
func (f *Factory) CompleteFrom(cmd *cobra.Command, flag string, value func(v1.Workspace) string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, CompleteList(func(cmd *cobra.Command) ([]string, error) {
		list, err := f.list(cmd, fleet.Names)
		if err != nil {
			return nil, err
		}
		var values []string
		for _, w := range list.Items {
			if v := value(w); v != "" {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		return slices.Compact(values), nil
	}))
}

// list reads the workspaces of the namespace, kept storage as well. Those without pods are among
// them if the place of the records is known: a broken configuration does not keep the others
// from being completed.
func (f *Factory) list(cmd *cobra.Command, read recorded.Read) (*v1.WorkspaceList, error) {
	ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTimeout)
	defer cancel()
	reader, err := Await(ctx, f.Workspaces)
	if err != nil {
		return nil, err
	}
	query := fleet.Query{Namespace: reader.Client.Namespace, Kept: true}
	place, done, err := f.For(cmd).States(ctx)
	if err != nil {
		return read(ctx, reader, query)
	}
	defer done()
	list, _, err := recorded.List(ctx, reader, place, lifecycle.Limits{}, query, read)
	return list, err
}

// CompleteList completes values that are separated by commas.
func CompleteList[T ~string](values func(*cobra.Command) ([]T, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		all, err := values(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		before := typed[:strings.LastIndex(typed, ",")+1]
		completions := make([]cobra.Completion, len(all))
		for i, v := range all {
			completions[i] = before + string(v)
		}
		return completions, cobra.ShellCompDirectiveNoFileComp
	}
}

// WorkspaceOf is the workspace that a command line names; empty if it names none yet.
type WorkspaceOf func(args []string) string

// FirstArgument is the workspace of most commands.
func FirstArgument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// CompletePods completes a flag with what the pods of a workspace have.
func (f *Factory) CompletePods(cmd *cobra.Command, flag string, of WorkspaceOf, values func(*corev1.Pod) []string) {
	complete := func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		workspace := of(args)
		if workspace == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTimeout)
		defer cancel()
		_, pods, err := Pods{Workspaces: f.Workspaces}.Find(ctx, workspace)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var all []cobra.Completion
		for _, pod := range pods {
			for _, value := range values(pod) {
				if !slices.Contains(all, value) {
					all = append(all, value)
				}
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
	_ = cmd.RegisterFlagCompletionFunc(flag, complete)
}

// CompleteKubeFlags completes the flags that say which cluster and which namespace is meant.
func (f *Factory) CompleteKubeFlags(root *cobra.Command) {
	complete := func(flag string, values func(context.Context) ([]cobra.Completion, error)) {
		fromCluster := func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTimeout)
			defer cancel()
			all, err := values(ctx)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		}
		_ = root.RegisterFlagCompletionFunc(flag, fromCluster)
	}
	complete("context", f.contexts)
	complete("namespace", f.namespaces)
}

// contexts are those of the kubeconfig.
func (f *Factory) contexts(ctx context.Context) ([]cobra.Completion, error) {
	return Await(ctx, func() ([]cobra.Completion, error) {
		c, err := f.Kube.ToRawKubeConfigLoader().RawConfig()
		return slices.Sorted(maps.Keys(c.Contexts)), err
	})
}

// namespaces are those of the cluster, if the caller may list them.
func (f *Factory) namespaces(ctx context.Context) (names []cobra.Completion, err error) {
	client, err := Await(ctx, f.Client)
	if err != nil {
		return nil, err
	}
	list, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, n := range list.Items {
		names = append(names, n.Name)
	}
	return names, nil
}

// CompleteUserString completes the blueprint in the user string of a workspace that may not
// exist yet: alice~ becomes alice~dev. Whose workspace it is, only the user knows.
func (d *Dependencies) CompleteUserString(
	cmd *cobra.Command, args []string, typed string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	user, rest, named := strings.Cut(typed, "~")
	if len(args) > 0 || !named || user == "" || strings.ContainsAny(rest, "=+") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTimeout)
	defer cancel()
	set, err := d.Blueprints(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var all []cobra.Completion
	for _, name := range set.Names() {
		all = append(all, user+"~"+name)
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// Causes are the names of causes, for completion: each code with what it means, and
// each of Kubernetes' own reasons with the codes that it may be.
func Causes(*cobra.Command) (names []cobra.Completion, err error) {
	meant := map[string][]string{}
	for _, e := range catalog.Explanations() {
		names = append(names, cobra.CompletionWithDesc(e.Code, e.Title))
		for _, reason := range e.Reasons {
			meant[reason] = append(meant[reason], e.Code)
		}
	}
	_, kubernetes := catalog.Reasons()
	for _, reason := range kubernetes {
		names = append(
			names, cobra.CompletionWithDesc(reason, "Kubernetes' word for "+strings.Join(meant[reason], ", ")),
		)
	}
	return names, nil
}

// CompleteVolumes completes arguments, or a flag, with what the drivers know.
func (f *Factory) CompleteVolumes(
	cmd *cobra.Command, namespace string, values func(context.Context, nodes.Nodes) ([]cobra.Completion, error),
) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTimeout)
	defer cancel()
	all, err := f.Volumes(ctx, namespace)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	found, err := values(ctx, all)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
