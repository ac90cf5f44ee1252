package watch

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
)

func (w *workload) readJob(_ State, job *batchv1.Job) {
	w.wanted = replicas(job.Spec.Parallelism)
	if job.Status.Ready != nil {
		w.ready = int(*job.Status.Ready)
	}
	w.complete = w.ready >= w.wanted
	for _, c := range job.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			w.ended = v1.StageStopped
		case c.Type == batchv1.JobFailed:
			w.ended, w.endCause = v1.StageFailed, cause.OfFailedJob(job, c)
		}
	}
}
