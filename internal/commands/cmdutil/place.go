package cmdutil

import (
	"context"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/kube"
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

// FindPlace finds where commands are run in a workspace that runs.
func FindPlace(ctx context.Context, open func() (inventory.Reader, error), workspace string, place pod.Place) (*kube.Client, pod.Request, error) {
	client, pods, err := FindPods(ctx, open, workspace)
	if err != nil {
		return nil, pod.Request{}, err
	}
	r, err := place.In(pods)
	return client, r, err
}
