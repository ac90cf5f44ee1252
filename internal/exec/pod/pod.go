// Package pod runs commands in workspaces, through the API server.
package pod

import (
	"context"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/kube"
)

// Request is one command in one container.
type Request struct {
	Pod, Container string
	ID             string // of the workspace; empty for a pod that belongs to none
	// Server is what a pod is called in messages that is no workspace's; empty for one that
	// is.
	Server  string
	Command []string
	exec.Session
}

// Run runs the command and returns its exit status. An error means that it
// could not be run to its end.
func Run(ctx context.Context, client *kube.Client, r Request) (int, error) {
	status, err := exec.Stream(ctx, client.Config, r.url(client), r.Session)
	if err != nil && ctx.Err() != nil {
		return 0, err
	}
	return status, failure(err, client, r)
}

// title is what the pod is called in messages.
func (r Request) title() string {
	if r.Server != "" {
		return r.Server
	}
	return "workspace " + r.Pod
}

// Runner runs commands where a request is for; its command and session are not used. It
// may run several at once.
func Runner(client *kube.Client, to Request) exec.Runner {
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		r := to
		r.Command, r.Session = command, s
		return Run(ctx, client, r)
	}
}

// url is where the API server runs the command.
func (r Request) url(client *kube.Client) *url.URL {
	return client.CoreV1().RESTClient().Post().Resource("pods").Namespace(client.Namespace).Name(r.Pod).
		SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Container: r.Container, Command: r.Command,
		Stdin: r.Stdin != nil, Stdout: r.Stdout != nil, Stderr: r.Stderr != nil && !r.TTY, TTY: r.TTY,
	}, scheme.ParameterCodec).URL()
}
