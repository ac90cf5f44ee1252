// Package exec runs commands in a workspace, through the API server.
package exec

import (
	"context"
	"errors"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	clientexec "k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Request is one command in one container.
type Request struct {
	Pod, Container string
	ID             string // of the workspace; empty for a pod that belongs to none
	Command        []string
	Stdin          io.Reader // nil: none
	Stdout, Stderr io.Writer
	// TTY gives the command a terminal; its stderr is merged into stdout then.
	TTY bool
	// Sizes are the terminal's sizes, the first one at once.
	Sizes remotecommand.TerminalSizeQueue
}

// Run runs the command and returns its exit status. An error means that it
// could not be run to its end.
func Run(ctx context.Context, client *kube.Client, r Request) (int, error) {
	executor, err := executorFor(client, r)
	if err != nil {
		return 0, err
	}
	options := remotecommand.StreamOptions{Stdin: r.Stdin, Stdout: r.Stdout, Stderr: r.Stderr, Tty: r.TTY, TerminalSizeQueue: r.Sizes}
	if r.TTY {
		options.Stderr = nil
	}
	err = stream(ctx, executor, options)
	if exit, ok := errors.AsType[clientexec.CodeExitError](err); ok {
		return exit.Code, nil
	}
	if err != nil && ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err != nil && missingProgram(err) {
		return 0, fault.New(fault.InvalidArgument, "program %q not found in workspace %s", r.Command[0], r.Pod).
			WithHint("install it in the image, or check the name")
	}
	return 0, failure(err, client, r)
}

// stream runs the command until the context ends, whatever hangs then: credential
// plugins are run without one.
func stream(ctx context.Context, executor remotecommand.Executor, options remotecommand.StreamOptions) error {
	ended := make(chan error, 1)
	go func() { ended <- executor.StreamWithContext(ctx, options) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// missingProgram reports whether the container runtime could not find the program.
// There is no type for it.
func missingProgram(err error) bool {
	text := err.Error()
	return strings.Contains(text, "executable file not found") || strings.Contains(text, "no such file or directory")
}

// executorFor prefers WebSockets and falls back to SPDY, where the server or a
// proxy on the way knows only that.
func executorFor(client *kube.Client, r Request) (remotecommand.Executor, error) {
	target := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(client.Namespace).Name(r.Pod).
		SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Container: r.Container, Command: r.Command,
		Stdin: r.Stdin != nil, Stdout: r.Stdout != nil, Stderr: r.Stderr != nil && !r.TTY, TTY: r.TTY,
	}, scheme.ParameterCodec).URL()
	spdy, err := remotecommand.NewSPDYExecutor(client.Config, "POST", target)
	if err != nil {
		return nil, fault.New(fault.Internal, "exec: %w", err)
	}
	websocket, err := remotecommand.NewWebSocketExecutor(client.Config, "GET", target.String())
	if err != nil {
		return nil, fault.New(fault.Internal, "exec: %w", err)
	}
	return remotecommand.NewFallbackExecutor(websocket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
}

// Into is a request for a workspace's pod, without its command yet. It is an error if
// the pod cannot be entered: a container that does not run has no processes to join.
func Into(pod *corev1.Pod) (Request, error) {
	r := Request{Pod: pod.Name, ID: kube.IDOf(&pod.ObjectMeta), Container: kube.MainContainer(pod.Labels)}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == r.Container && status.State.Running != nil {
			return r, nil
		}
	}
	return r, fault.New(fault.Failed, "workspace %s cannot be entered: container %s is not running", pod.Name, r.Container).
		WithHint("see why: %s", kube.Command("status", r.ID, pod.Namespace))
}
