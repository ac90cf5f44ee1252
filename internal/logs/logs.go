// Package logs reads what the containers of a workspace have said.
package logs

import (
	"bufio"
	"context"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Request says whose log, and what of it.
type Request struct {
	Container string
	// Follow goes on until the container ends, and waits for its start.
	Follow bool
	// Previous is the log of the instance before the last restart.
	Previous   bool
	Timestamps bool
	// Tail is how many of the last lines; negative: all.
	Tail int64
	// Since leaves out what is older; 0: nothing.
	Since time.Duration
	// Policy says when a workspace that has not started is not waited for any longer.
	Policy cause.Policy
	// Lost is told why the connection of a log that is followed was lost; it is made
	// again. It may be nil.
	Lost func(error)

	sinceTime *metav1.Time // of a log that is followed again
}

func (r Request) options() *corev1.PodLogOptions {
	o := &corev1.PodLogOptions{Container: r.Container, Follow: r.Follow, Previous: r.Previous, Timestamps: r.Timestamps}
	if r.Tail >= 0 {
		o.TailLines = &r.Tail
	}
	if r.Since > 0 {
		seconds := max(int64((r.Since+time.Second-1)/time.Second), 1)
		o.SinceSeconds = &seconds
	}
	o.SinceTime = r.sinceTime
	return o
}

// Copy writes the log of one container.
func Copy(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request, out io.Writer) error {
	if r.Follow {
		return followLog(ctx, client, pod, r, func(text string) error {
			_, err := io.WriteString(out, text)
			return err
		})
	}
	stream, err := open(ctx, client, pod, r)
	if err != nil {
		return err
	}
	defer stream.Close()
	text := bufio.NewReader(stream)
	if removed(text) {
		return fault.New(fault.NotFound, "the node has removed the log of container %s", r.Container).
			WithHint("it keeps only the last log of a container that has ended; try again, or without --previous")
	}
	_, err = io.Copy(out, text)
	return kube.Fault(err, call(client, pod.Name))
}

// noLog is what the kubelet says instead of a log, if it has none: that comes as text,
// with a status of success.
const noLog = "unable to retrieve container logs for "

// removed is true if that is said.
func removed(text *bufio.Reader) bool {
	begin, _ := text.Peek(len(noLog)) // a shorter log is an error here, and fine
	return string(begin) == noLog
}

// open waits for the container if it is followed, and opens its log. That it
// runs is known to the API server before the kubelet can be asked, so the first
// attempt may come too early.
func open(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request) (io.ReadCloser, error) {
	for {
		if err := ready(ctx, client, pod, r); err != nil {
			return nil, err
		}
		stream, err := client.CoreV1().Pods(client.Namespace).GetLogs(pod.Name, r.options()).Stream(ctx)
		if r.Follow && tooEarly(err) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(retryAfter):
				continue
			}
		}
		return stream, kube.Fault(err, call(client, pod.Name))
	}
}

const retryAfter = 200 * time.Millisecond

// ready makes sure that there is a log to be read.
func ready(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request) error {
	err := readable(pod, r)
	if err == nil || !r.Follow || r.Previous || !hasContainer(pod, r.Container) {
		return err
	}
	return waitForStart(ctx, client, pod, r)
}

func tooEarly(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "waiting to start")
}

func call(client *kube.Client, pod string) kube.Call {
	return kube.Call{Verb: "get", Resource: "pods/log", Namespace: client.Namespace, Name: pod}
}
