package cmdutil

import (
	"context"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// AddPodFlag adds --pod, of the workspace that the command line names.
func (f *Factory) AddPodFlag(cmd *cobra.Command, place *pod.Place, of WorkspaceOf) {
	cmd.Flags().StringVar(&place.Pod, "pod", "", "the pod, of a workspace in several (default: one that is ready)")
	f.CompletePods(cmd, "pod", of, func(p *corev1.Pod) []string { return []string{p.Name} })
}

// AddContainerFlag adds --container.
func (f *Factory) AddContainerFlag(cmd *cobra.Command, place *pod.Place, of WorkspaceOf) {
	cmd.Flags().StringVarP(&place.Container, "container", "c", "", "the container (default: the workspace's main one)")
	f.CompletePods(cmd, "container", of, pod.Containers)
}

// Pods finds the pods of workspaces.
type Pods struct {
	Workspaces func() (inventory.Reader, error)
	// States says whether a workspace without a pod is stopped; nil if that is not asked.
	States func(context.Context) (lifecycle.Place, func(), error)
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string
}

// Find finds the pods of the workspace that an argument names, and the client of their
// namespace.
func (p Pods) Find(ctx context.Context, workspace string) (*kube.Client, []*corev1.Pod, error) {
	arg, err := inventory.ParseArgument(workspace)
	if err != nil {
		return nil, nil, err
	}
	reader, err := Await(ctx, p.Workspaces)
	if err != nil {
		return nil, nil, err
	}
	target, err := reader.Find(ctx, arg)
	if err != nil {
		return nil, nil, err
	}
	pods, err := reader.Pods(ctx, target)
	if err != nil && p.States != nil {
		err = OrStopped(ctx, p.States, p.Flags, target, workspace, err)
	}
	return reader.Client.In(target.Namespace), pods, err
}

// Place finds where commands are run in a workspace that runs.
func (p Pods) Place(ctx context.Context, workspace string, place pod.Place) (*kube.Client, pod.Request, error) {
	client, pods, err := p.Find(ctx, workspace)
	if err != nil {
		return nil, pod.Request{}, err
	}
	r, err := place.In(pods)
	return client, r, err
}
