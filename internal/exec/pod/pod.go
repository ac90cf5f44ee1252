// Package pod runs commands in workspaces, through the API server.
package pod

import (
	"cmp"
	"context"
	"io"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Request is one command in one container.
type Request struct {
	Pod, Container string
	ID             string // of the workspace; empty for a pod that belongs to none
	// Server is what a pod is called in messages that is no workspace's; empty for one that is.
	Server  string
	Command []string
	exec.Session
}

// Run runs the command and returns its exit status. An error means that it could not be run to its end.
func Run(ctx context.Context, client *kube.Client, r Request) (int, error) {
	status, err := exec.Stream(ctx, exec.Server{Config: client.Config, Ready: client.Ready}, r.url(client),
		r.Session)
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

// Runner runs commands where a request is for; its command and session are not used. It may run several at once.
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

// failure says what kept a command from running, or from running to its end.
func failure(err error, client *kube.Client, r Request) error {
	_, unsure := exec.Unsure(err)
	switch {
	case err == nil:
		return nil
	case unsure:
		return fault.New(fault.Unavailable, "the session with %s %w", r.title(), err).WithReason(exec.ReasonUnsure).
			WithHint("see what it has done before it is run again")
	case r.Server != "" && (strings.Contains(err.Error(), "error dialing backend") || exec.IsLost(err)):
		return fault.New(fault.Unavailable, "the connection to %s was lost: %w", r.Server, err).
			WithHint("see its pod: kubectl describe pod %s --namespace %s", r.Pod, client.Namespace)
	case strings.Contains(err.Error(), "error dialing backend"):
		return fault.New(fault.Unavailable, "the node of workspace %s cannot be reached: %w", r.Pod, err).
			WithHint("see its state: %s", kube.Command("status", cmp.Or(r.ID, r.Pod), client.Namespace))
	case exec.IsLost(err):
		return fault.New(fault.Unavailable,
			"the connection to the API server was lost, and with it the command in workspace %s: %w", r.Pod, err).
			WithHint("it may still be running there: `%s` shows its processes",
				kube.Command("exec", cmp.Or(r.ID, r.Pod), client.Namespace, "--", "ps"))
	}
	if isGone(err) {
		return fault.New(fault.Failed, "%s does not run any more, or not yet", r.title()).WithReason(ReasonNotRunning).
			WithHint("see its state: %s", kube.Command("status", cmp.Or(r.ID, r.Pod), client.Namespace))
	}
	if notStarted := notStarted(err, r.Command[0], r.title()); notStarted != nil {
		return notStarted
	}
	failed := kube.Fault(err, kube.Call{
		Verb: "create", Resource: "pods/exec", Namespace: client.Namespace, Name: r.Pod,
	})
	if fault.CodeOf(failed) == fault.Internal {
		return fault.New(fault.Internal, "cannot run the command in %s: %w", r.title(), err)
	}
	return failed
}

// isGone is true if the container runtime says that the container's process is not there: it has
// ended, or is being restarted, since the pod was read.
func isGone(err error) bool {
	said := strings.ToLower(err.Error())
	return slices.ContainsFunc([]string{
		"no running task found", "container not running", "container is not running", "not in running state",
		"in a stopped state", "in a stopped container", "container not found (", "cannot exec in a deleted state",
	}, func(text string) bool { return strings.Contains(said, text) })
}

// The reasons of the errors about a program that the container runtime could not start.
const (
	ReasonNotFound      = "PROGRAM_NOT_FOUND"
	ReasonNotExecutable = "PROGRAM_NOT_EXECUTABLE"
)

// notStarted is the error about a program that could not be started, by what the container
// runtime says; nil if it is about something else. runc and crun have no type for it.
func notStarted(err error, program, in string) error {
	said := strings.ToLower(err.Error())
	is := func(texts ...string) bool {
		for _, text := range texts {
			if strings.Contains(said, text) {
				return true
			}
		}
		return false
	}
	switch {
	case is("executable file not found", "not found in $path", "no such file or directory"):
		return fault.New(fault.InvalidArgument, "program %q not found in %s", program, in).
			WithHint("install it in the image, or check the name").WithReason(ReasonNotFound)
	case !is("exec: ", "crun: "):
		return nil
	case is("permission denied"):
		return fault.New(fault.InvalidArgument, "program %q in %s cannot be executed: permission denied", program, in).
			WithHint("it has to be a file that the container's user may execute").WithReason(ReasonNotExecutable)
	case is("exec format error"):
		return fault.New(fault.InvalidArgument, "program %q in %s cannot be executed: exec format error", program, in).
			WithHint("it is for another architecture than that of the node, or a script without #! in its first line").
			WithReason(ReasonNotExecutable)
	case is("is a directory", "not a directory"):
		return fault.New(fault.InvalidArgument, "%q in %s is not a program", program, in).
			WithHint("name a file that can be executed").WithReason(ReasonNotExecutable)
	}
	return nil
}

// Usage measures how many bytes the files below directories of a workspace take, with its own du: the directories that
// it answers for, until the deadline of the context. An image without du or timeout has no answer.
func Usage(ctx context.Context, client *kube.Client, pod *corev1.Pod, paths []string) map[string]int64 {
	r, err := Into(pod)
	if err != nil || len(paths) == 0 {
		return nil
	}
	out := exec.Beginning{Max: maxUsage}
	r.Stdout, r.Stderr = &out, io.Discard
	// It would go on when nobody waits for it any more.
	r.Command = append([]string{"timeout", seconds(ctx), "du", "-skx"}, paths...)
	// A directory that it may not read makes it fail, and it answers all the same.
	_, _ = Run(ctx, client.In(pod.Namespace), r)
	return usage(out.String())
}

// seconds is the time that a context has left, rounded up.
func seconds(ctx context.Context) string {
	deadline, _ := ctx.Deadline()
	return strconv.Itoa(max(int(math.Ceil(time.Until(deadline).Seconds())), 1))
}

// usage reads lines of du: kibibytes, a tab, the directory.
func usage(text string) map[string]int64 {
	used := map[string]int64{}
	for line := range strings.Lines(text) {
		size, path, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if kib, err := strconv.ParseUint(size, 10, 53); err == nil && path != "" {
			used[path] = int64(kib) << 10
		}
	}
	return used
}

// maxUsage is how much of what du prints is read, in bytes: the image brings it, and can print anything.
const maxUsage = 64 << 10
