package portforward

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/forward"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// Run forwards ports.
func Run(ctx context.Context, o *Options) error {
	arg, err := inventory.ParseArgument(o.Workspace)
	if err != nil {
		return err
	}
	reader, err := cmdutil.Await(ctx, o.Workspaces)
	if err != nil {
		return err
	}
	found, err := reader.Find(ctx, arg)
	if err != nil {
		return err
	}
	if _, err := reader.Pods(ctx, found); err != nil {
		if err := cmdutil.OrStopped(ctx, o.States, o.Flags, found, o.Workspace,
			err); fault.ReasonOf(err) == cmdutil.ReasonStopped {
			return err // anything else is waited for, or found again
		}
	}
	w := &workspace{Options: o, reader: reader, arg: arg, client: reader.Client.In(found.Namespace), id: found.ID}
	return cmdutil.FollowEnded(ctx, forward.Forward{
		Addresses: o.Addresses, Ports: o.Ports, Report: w.report,
		Find: w.target,
		Dial: func(ctx context.Context, t forward.Endpoint) (httpstream.Connection, error) {
			return w.client.DialPorts(ctx, w.client.Namespace, t.Pod)
		},
		Gone: func(ctx context.Context, t forward.Endpoint) string { return pod.Gone(ctx, w.client, t.Pod, t.UID) },
	}.Run(ctx))
}

// workspace is the one whose ports are forwarded.
type workspace struct {
	*Options
	reader inventory.Reader
	arg    inventory.Argument
	client *kube.Client // of its namespace
	id     string
}

// target is the pod to forward to, at this moment.
func (w *workspace) target(ctx context.Context) (t *forward.Endpoint, why string, err error) {
	found, err := w.reader.Find(ctx, w.arg)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return nil, "", fault.New(fault.NotFound, "workspace %s was deleted", w.id).
			WithHint("`berth provision` brings up another one")
	case err != nil:
		return nil, "", err
	}
	pods, err := w.reader.Pods(ctx, found)
	switch code := fault.CodeOf(err); {
	case code == fault.NotFound:
		return nil, strings.TrimSuffix("workspace "+w.id+" has no pod; "+fault.From(err).Hint, "; "), nil
	case code == fault.Failed:
		return nil, fault.From(err).Message, nil
	case err != nil:
		return nil, "", err
	}
	chosen, err := w.Place.Choose(pods)
	if err != nil {
		return nil, "", err
	}
	if why := unreachable(chosen); why != "" {
		return nil, why, nil
	}
	return &forward.Endpoint{Pod: chosen.Name, UID: string(chosen.UID)}, "", nil
}

// unreachable says why nothing can be forwarded to a pod now; empty if it can.
func unreachable(pod *corev1.Pod) string {
	switch {
	case pod.DeletionTimestamp != nil:
		return "pod " + pod.Name + " is being deleted"
	case pod.Status.Phase != corev1.PodRunning:
		return "pod " + pod.Name + " is " + string(pod.Status.Phase)
	}
	return ""
}

// report prints an event: addresses on stdout, everything else beside them.
func (w *workspace) report(e forward.Event) {
	d := result.PortForward{PortForward: v1.PortForward{
		Time: time.Now().UTC(), State: v1.PortForwardState(e.Kind), ID: w.id, Namespace: w.client.Namespace,
		Pod: e.Pod, Address: e.Address, Port: e.Port.Remote, Reason: e.Why,
	}}
	s := w.IO
	if w.Output.IsText() && e.Kind != forward.Listening {
		s.Out = s.Err
	}
	_ = printer.Print(s, w.Output, d) // the stream remembers it
}
