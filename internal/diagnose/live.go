package diagnose

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Live diagnoses a subject on a cluster, with the last log lines of the container
// that failed.
func Live(ctx context.Context, client kube.Interface, subject watch.Subject, p cause.Policy,
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
	if d.Cause != nil {
		if pod, ok := strings.CutPrefix(d.Cause.Object, "pod/"); ok {
			var refusal error
			d.Logs, refusal = logs(ctx, client, subject.Namespace, pod, d.Cause)
			if apierrors.IsForbidden(refusal) {
				d.Unread = append(d.Unread, kube.Call{Verb: "get", Resource: "pods/log", Namespace: subject.Namespace}.String())
			}
		}
	}
	return d, nil
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
