package diagnose

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// Live says how a subject stands on a cluster, with the last words of the
// container that failed.
func Live(ctx context.Context, client kubernetes.Interface, subject watch.Subject, p watch.Policy, now time.Time) (v1.Diagnosis, error) {
	dump, err := Gather(ctx, client, subject)
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

// Podless is the diagnosis of a workspace that is installed without its pod.
func Podless(subject watch.Subject, now time.Time) v1.Diagnosis {
	return v1.Diagnosis{
		TypeMeta: v1.Kind(v1.KindDiagnosis),
		Subject:  kube.Object(strings.ToLower(subject.Kind), subject.Name), Namespace: subject.Namespace,
		At: now.UTC(), Verdict: v1.VerdictGone, Stage: v1.StageUnknown, Status: v1.StatusUnknown,
		Message: "installed, but its pod is gone",
		Hint:    "Somebody deleted the pod. Provision the workspace again, or delete it.",
	}
}
