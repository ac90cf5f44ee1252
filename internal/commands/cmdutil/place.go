package cmdutil

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Place says which container of which pod of a workspace is meant; empty for the main
// container of the pod to enter first.
type Place struct{ Pod, Container string }

// AddPodFlag adds --pod.
func (p *Place) AddPodFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.Pod, "pod", "", "the pod, where a workspace has one in each replica of its workload")
	NoFlagValues(cmd, "pod")
}

// AddContainerFlag adds --container.
func (p *Place) AddContainerFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&p.Container, "container", "c", "", "the container (default: "+v1.MainContainer+")")
	_ = cmd.RegisterFlagCompletionFunc("container", cobra.FixedCompletions([]string{v1.MainContainer}, cobra.ShellCompDirectiveNoFileComp))
}

// Enter finds where commands are run in a workspace.
func (p Place) Enter(ctx context.Context, open func() (inventory.Reader, error), workspace string) (*kube.Client, pod.Request, error) {
	client, pods, err := FindPods(ctx, open, workspace)
	if err != nil {
		return nil, pod.Request{}, err
	}
	r, err := p.choose(pods)
	return client, r, err
}

// choose chooses among the pods of a workspace.
func (p Place) choose(pods []*corev1.Pod) (pod.Request, error) {
	chosen, err := p.ChoosePod(pods)
	if err != nil {
		return pod.Request{}, err
	}
	if p.Container == "" {
		return pod.Into(chosen)
	}
	r := pod.Request{Pod: chosen.Name, ID: kube.IDOf(&chosen.ObjectMeta)}
	for _, name := range []string{p.Container, kube.Name(r.ID, p.Container)} {
		i := slices.IndexFunc(chosen.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == name })
		if i < 0 {
			continue
		}
		if r.Container = name; chosen.Status.ContainerStatuses[i].State.Running == nil {
			return r, fault.New(fault.Failed, "container %s of workspace %s is not running", name, chosen.Name).
				WithHint("see why: %s", kube.Command("status", r.ID, chosen.Namespace))
		}
		return r, nil
	}
	return r, fault.New(fault.NotFound, "pod %s has no container %s", chosen.Name, p.Container).
		WithHint("see its containers: %s", kube.Command("status", r.ID, chosen.Namespace))
}

// ChoosePod is the pod that is meant.
func (p Place) ChoosePod(pods []*corev1.Pod) (*corev1.Pod, error) {
	if p.Pod == "" {
		return pods[0], nil
	}
	var names []string
	for _, candidate := range pods {
		if candidate.Name == p.Pod {
			return candidate, nil
		}
		names = append(names, candidate.Name)
	}
	id := kube.IDOf(&pods[0].ObjectMeta)
	return nil, fault.New(fault.NotFound, "workspace %s has no pod %s", id, p.Pod).WithHint("its pods are: %s", names)
}
