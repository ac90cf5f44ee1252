package judge

import (
	"cmp"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Failed says why a pod's phase is Failed: by the pod's own reason if it has
// one, else by the container that ended with an error.
func Failed(p evidence.Pod, policy cause.Policy) *cause.Finding {
	if p.Status.Reason == "" {
		for _, c := range p.Containers {
			if f := cmp.Or(crashed(c, policy), detect.EndedForGood(c)); f != nil {
				return f
			}
		}
	}
	return detect.Over(p)
}

// FailedJob is the cause of a Job that has the condition Failed: how its last pod
// ended, if that is known.
func FailedJob(job *batchv1.Job, c batchv1.JobCondition, last *evidence.Pod) *v1.Cause {
	gave := &v1.Cause{Code: cause.JobFailed, Message: c.Reason + ": " + c.Message, Object: kube.Object("Job", job.Name)}
	if last == nil || c.Reason == batchv1.JobReasonDeadlineExceeded {
		return gave
	}
	f := Failed(*last, cause.DefaultPolicy())
	end := f.Cause
	end.Message = fmt.Sprintf("%s: the job gave up after %s; the last, %s: %s", c.Reason,
		english.Plural(max(1, int(job.Status.Failed)), "failed pod"), last.Name, f.Message)
	end.Object = last.Ref()
	if end.Code == cause.ContainerExited || end.Code == cause.PodFailed {
		end.Code = cause.JobFailed
	}
	return &end
}

// RetriedJob is how the last pod of a Job ended that has none at the moment, and will
// make another one.
func RetriedJob(last evidence.Pod) *cause.Finding {
	f := Failed(last, cause.DefaultPolicy())
	f.Object, f.Passes = last.Ref(), true
	f.Message = "pod " + last.Name + ": " + f.Message + "; the job makes another one"
	f.Begun = evidence.Later(f.Begun, last.EndedAt())
	return f
}

// BlockedRevision is the pod of a StatefulSet's revision before that is not ready,
// which is why it is not replaced.
func BlockedRevision(p evidence.Pod) *cause.Finding {
	message := p.Name + " of the revision before is not ready, and blocks the update"
	if f := Unready(p); f != nil {
		message += ": " + f.Message
	}
	return &cause.Finding{Begun: p.ProgressedAt(), Cause: v1.Cause{
		Code: cause.RevisionBlocked, Message: message, Object: p.Ref(),
	}}
}
