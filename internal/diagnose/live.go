package diagnose

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/diagnose/related"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/nodes"
)

// Live diagnoses a subject on a cluster, with the last log lines of the container that failed. Others are the kinds
// that only some clusters have.
func Live(ctx context.Context, client kube.Interface, others dynamic.Interface, subject watch.Subject, p cause.Policy,
	now time.Time,
) (v1.Diagnosis, error) {
	dump, err := gather(ctx, client, subject)
	if err == nil {
		dump, err = dump.withNodes(ctx, client, subject, now)
	}
	if err != nil {
		return v1.Diagnosis{}, err
	}
	d := dump.Diagnose(subject, p, now)
	says, unread := related.Read(ctx, others, dump.others(subject, d.Cause))
	d.Warnings, d.Unread = append(d.Warnings, says...), append(d.Unread, unread...)
	if d.Cause != nil {
		if pod, ok := strings.CutPrefix(d.Cause.Object, "pod/"); ok {
			var refusal error
			d.Logs, refusal = logs(ctx, client, subject.Namespace, pod, d.Cause)
			if apierrors.IsForbidden(refusal) {
				d.Unread = append(d.Unread, kube.Call{
					Verb: "get", Resource: "pods/log",
					Namespace: subject.Namespace,
				}.String())
			}
		}
	}
	return d, nil
}

// others are the objects besides pods and events that say more about a cause.
func (d Dump) others(subject watch.Subject, c *v1.Cause) []related.Reference {
	pod := podOf(subject, d.Records, c)
	var events []*corev1.Event
	for _, r := range d.Records {
		if e, is := r.Object.(*corev1.Event); is && pod != nil && e.InvolvedObject.UID == pod.UID {
			events = append(events, e)
		}
	}
	return related.Wanted(pod, events, c)
}

// Podless is the diagnosis of a workspace that is installed without its pod: the
// pod as it would be, and the reading of why it is not there,
// which says what brings back one that is gone.
func Podless(pod *corev1.Pod, reading v1.Snapshot, now time.Time) v1.Diagnosis {
	about := aboutPod(pod).Of(pod.Spec, reading.Cause)
	return v1.Diagnosis{
		Subject: kube.Object(strings.ToLower(watch.KindPod), pod.Name), Namespace: pod.Namespace,
		UserString: about.UserString, Blueprint: about.Blueprint,
		At: now.UTC(), Verdict: reading.Verdict(), Stage: reading.Stage, Status: reading.Status, Since: reading.Since,
		Message: reading.Message, Cause: reading.Cause,
		Hint: cause.Hint(reading.Cause, about),
	}
}

const (
	tailLines = 10
	tailBytes = 16 << 10
)

// Logs are the last lines of the container that a cause names: of the instance
// before, if it was restarted and the one that runs has said nothing yet. Nil
// if there are none, for whatever reason: this explains a failure, and must not
// become one.
func Logs(ctx context.Context, client kube.Interface, namespace, pod string, cause *v1.Cause) *v1.LogTail {
	found, _ := logs(ctx, client, namespace, pod, cause)
	return found
}

// logs also says why there are none, if that was an error.
func logs(ctx context.Context, client kube.Interface, namespace, pod string, cause *v1.Cause) (*v1.LogTail, error) {
	if cause == nil || cause.Container == "" {
		return nil, nil
	}
	var failed error
	for _, previous := range instances(cause) {
		lines, err := tail(ctx, client, namespace, pod, cause.Container, previous)
		if err == nil && len(lines) > 0 {
			return &v1.LogTail{Container: cause.Container, Previous: previous, Lines: lines}, nil
		}
		if err != nil {
			failed = err
		}
	}
	return nil, failed
}

// instances are those of a container whose logs may say why it failed, the likelier one first: Previous or not.
func instances(c *v1.Cause) []bool {
	restarted := c.Restarts != nil && *c.Restarts > 0
	return []bool{restarted, !restarted}
}

func tail(ctx context.Context, client kube.Interface, namespace, pod, container string, previous bool) ([]string,
	error,
) {
	lines, bytes := int64(tailLines), int64(tailBytes)
	stream, err := client.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{
		Container: container, Previous: previous, TailLines: &lines, LimitBytes: &bytes,
	}).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	text, err := io.ReadAll(stream)
	if err != nil {
		return nil, err
	}
	trimmed := strings.TrimRight(string(text), "\n")
	if trimmed == "" || lost(trimmed) {
		return nil, nil
	}
	return strings.Split(trimmed, "\n"), nil
}

// lost recognizes what the kubelet returns in place of a log, without any error, once
// it has cleared away the instance or is about to.
func lost(log string) bool {
	return strings.HasPrefix(log, "unable to retrieve container logs for ") ||
		strings.HasPrefix(log, "failed to try resolving symlinks in path ")
}

// withNodes adds the nodes that pods wait on. Where they may not be read, that is named, and
// the rest stands.
func (d Dump) withNodes(ctx context.Context, client kube.Interface, subject watch.Subject, now time.Time) (Dump,
	error,
) {
	state := watch.NewState(subject)
	for _, r := range d.Records {
		state = state.Apply(r.Type, r.Object)
	}
	found, unread, err := nodes.Read(ctx, client.CoreV1().Nodes(), state, now)
	d.Unread = append(slices.Clone(d.Unread), unread...)
	for _, node := range found {
		d.Records = append(slices.Clone(d.Records), watch.Record{Type: apiwatch.Added, Object: node})
	}
	return d, err
}
