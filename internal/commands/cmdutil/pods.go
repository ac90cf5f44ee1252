package cmdutil

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
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

// Pods finds the pods of workspaces: Find all pods of one, as logs wants them, and Place the container of one that
// runs, as cp does. Package attach is for a command that waits until the workspace runs. A command that finds the
// workspace itself, such as port-forward, which goes on when the pod is replaced, asks OrStopped what to say of one
// without a pod.
type Pods struct {
	// Workspaces opens what reads workspaces, once the command line has been checked.
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
	pods, err := reader.PodsFound(ctx, target)
	if err != nil && p.States != nil {
		err = OrStopped(ctx, p.States, p.Flags, target, workspace, err)
	}
	return reader.Client.In(target.Namespace), pods, err
}

// Place finds where commands are run in a workspace that runs.
func (p Pods) Place(ctx context.Context, workspace string, place pod.Place) (*kube.Client, pod.Request, error) {
	reader, err := Await(ctx, p.Workspaces)
	if err != nil {
		return nil, pod.Request{}, err
	}
	reader.Client.Ready.Prepare()
	client, pods, err := p.Find(ctx, workspace)
	if err != nil {
		return nil, pod.Request{}, err
	}
	r, err := place.In(pods)
	return client, r, err
}

// ReasonStopped is the reason of the error about a workspace that is stopped.
const ReasonStopped = "STOPPED"

// stateTimeout is how long it may take to find out that a workspace is stopped.
const stateTimeout = 3 * time.Second

// OrStopped is the error about the pods of a workspace: that it is stopped, if it has none and
// that is recorded. What keeps the record from being read is no news here. Either says what
// brings it back, as the workspace was typed.
func OrStopped(
	ctx context.Context, states func(context.Context) (lifecycle.Place, func(), error), flags []string,
	target *inventory.Target, workspace string, err error,
) error {
	if fault.CodeOf(err) != fault.NotFound && fault.ReasonOf(err) != inventory.ReasonNoPod {
		return err
	}
	if fault.ReasonOf(err) == inventory.ReasonPodGone {
		gone := *fault.From(err)
		gone.Hint, err = startIt(workspace, flags), &gone
	}
	limited, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	place, done, openErr := states(limited)
	if openErr != nil {
		return err
	}
	defer done()
	r, readErr := place.Of(target.Namespace).Get(limited, target.ID)
	if readErr != nil || r.Desired != v1.DesiredStopped {
		return err
	}
	return Stopped(target.ID, workspace, flags)
}

// Stopped is the error about a workspace that is stopped. It says what starts it, as the workspace was typed.
func Stopped(id, workspace string, flags []string) error {
	stopped := fault.New(fault.Failed, "workspace %s is stopped", id).WithReason(ReasonStopped)
	stopped.Hint = startIt(workspace, flags)
	return stopped
}

func startIt(workspace string, flags []string) string {
	return strings.Join(append([]string{inventory.StartIt(workspace)}, flags...), " ")
}

// WarnOfNamespace warns of a namespace that does not exist, where nothing was found in it. To
// a caller who may not read it, nothing is said.
func WarnOfNamespace(ctx context.Context, s terminal.Streams, client *kube.Client, namespace string) {
	if namespace == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	if client.LacksNamespace(ctx, namespace) {
		printer.PrintWarning(s, "namespace "+namespace+" does not exist; --namespace chooses another one")
	}
}
