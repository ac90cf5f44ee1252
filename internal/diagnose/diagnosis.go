// Package diagnose explains the state of a workspace, a pod or a workload: what is
// read of it, live or from a dump, what keeps it from running, and what the failing
// container has logged last.
package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Diagnose says which stage the subject is in at a time, and how it got there.
func (d Dump) Diagnose(subject watch.Subject, p cause.Policy, at time.Time) v1.Diagnosis {
	records := watch.Related(subject, d.Records)
	var story story
	if d.Recorded {
		story.began = d.Records[0].At
		watch.Replay(subject, append(records, watch.Record{At: at}), p, story.see)
	} else {
		story.look(subject, records, p, at, d.CutOff || d.hasNoEvents())
	}
	last := story.last
	diagnosis := v1.Diagnosis{
		Subject:   kube.Object(strings.ToLower(cmp.Or(subject.Kind, watch.KindPod)), subject.Name),
		Namespace: subject.Namespace,
		At:        at.UTC(), Verdict: last.Verdict(), Stage: last.Stage, Status: last.Status,
		Since: story.since(d.Recorded), FailedAt: story.failedAt(),
		Message: last.Message, Node: last.Node,
		Containers: last.Containers, Warnings: last.Warnings, Ignored: last.Ignored, Timeline: story.moments,
		Unread: d.Unread, Skipped: d.Skipped,
	}
	about := describe(subject, records, last.Cause)
	about.Waits = diagnosis.Verdict == v1.VerdictWaiting
	diagnosis.UserString, diagnosis.Blueprint = about.UserString, about.Blueprint
	diagnosis.Startable = last.Ended && isOwnPod(subject, podOf(subject, records, nil))
	diagnosis.Hint = cause.Hint(last.Cause, about)
	switch diagnosis.Verdict {
	case v1.VerdictFailed, v1.VerdictWaiting, v1.VerdictTerminating:
		diagnosis.Cause, diagnosis.Logs = last.Cause, d.logs(subject.Namespace, last.Cause)
	}
	d.complete(&diagnosis, waitingPod(subject, records))
	return diagnosis
}

// complete says where there is more to know, of what waits for a reason that is not known.
func (d Dump) complete(diagnosis *v1.Diagnosis, pod *corev1.Pod) {
	if diagnosis.Verdict != v1.VerdictWaiting || diagnosis.Cause != nil {
		return
	}
	namespace := ""
	if diagnosis.Namespace != "" {
		namespace = " --namespace " + fault.Word(diagnosis.Namespace)
	}
	_, name, _ := strings.Cut(diagnosis.Subject, "/")
	if pod != nil {
		name = pod.Name
	}
	switch {
	case d.CutOff:
		diagnosis.Hint = "The dump is cut off, and what is missing of it may say why: save it again."
	case d.hasNoEvents():
		diagnosis.Hint = fmt.Sprintf("The dump has no events about %s, which may say why: `kubectl get events%s "+
			"--field-selector involvedObject.name=%s`.", name, namespace, fault.Word(name))
	case diagnosis.Stage == v1.StageInitializing:
		diagnosis.Hint = "An init container runs before the others start: its log says what it does" +
			fmt.Sprintf(" (`kubectl logs %s%s --all-containers --prefix`).", fault.Word(name), namespace)
	}
}

// hasNoEvents is true for a dump of objects without their events, which is not to say that there are none.
func (d Dump) hasNoEvents() bool {
	for _, r := range d.Records {
		if _, is := r.Object.(*corev1.Event); is {
			return false
		}
	}
	return !d.AllEvents
}

// story is the succession of stages.
type story struct {
	began   time.Time // the first record
	moments []v1.Moment
	last    v1.Snapshot
}

// see takes a reading. What is said before the subject appears is not about it.
func (s *story) see(at time.Time, reading v1.Snapshot) {
	s.last = reading
	n := len(s.moments)
	if n == 0 && reading.Stage == v1.StageUnknown && !reading.Gone || n > 0 && s.moments[n-1].Stage == reading.Stage {
		return
	}
	s.moments = append(s.moments, v1.Moment{
		At: at.UTC(), Offset: s.offset(at), Stage: reading.Stage, Status: reading.Status, Message: reading.Message,
	})
}

// look takes the one reading of the current state. Of what was before, only the
// beginning is certain: every pod has been looked for a node for.
func (s *story) look(subject watch.Subject, records []watch.Record, p cause.Policy, at time.Time, noEvents bool) {
	state := watch.NewState(subject)
	if noEvents {
		state = state.WithoutEvents()
	}
	for _, r := range records {
		state = state.Apply(r.Type, r.Object)
	}
	reading, _ := watch.Analyze(state, p, at)
	s.began = created(subject, records, at)
	since := at
	if !reading.Since.IsZero() {
		since = reading.Since
	}
	if pod, _ := state.Pod(); pod != nil && reading.Stage != v1.StageScheduling && pod.Name == subject.Name {
		s.see(s.began, v1.Snapshot{Stage: v1.StageScheduling, Status: v1.StageScheduling.Status()})
	}
	s.see(since, reading)
}

// created is when the subject was made.
func created(subject watch.Subject, records []watch.Record, otherwise time.Time) time.Time {
	for _, r := range records {
		o, err := meta.Accessor(r.Object)
		if err != nil || o.GetName() != subject.Name || watch.SubjectOf(o).Kind != cmp.Or(subject.Kind, watch.KindPod) {
			continue
		}
		if made := o.GetCreationTimestamp(); !made.IsZero() {
			return made.Time
		}
	}
	return otherwise
}

// since is when the last stage began, as the cluster says it: it may have begun
// before it was worth a word, as Pulling does. In a history that is no earlier
// than the stage before, nor later than it was seen.
func (s *story) since(recorded bool) time.Time {
	since, n := s.last.Since.UTC(), len(s.moments)
	if !recorded || n == 0 {
		return since
	}
	if seen := s.moments[n-1].At; since.IsZero() || since.After(seen) {
		return seen
	}
	if n > 1 && since.Before(s.moments[n-2].At) {
		return s.moments[n-1].At
	}
	return since
}

func (s *story) failedAt() *float64 {
	for _, m := range s.moments {
		if m.Stage == v1.StageFailed {
			return &m.Offset
		}
	}
	return nil
}

// offset is in seconds, to the millisecond.
func (s *story) offset(at time.Time) float64 {
	return max(0, math.Round(at.Sub(s.began).Seconds()*1000)/1000)
}

// podOf is the pod that a cause is about, or that the subject is.
func podOf(subject watch.Subject, records []watch.Record, cause *v1.Cause) (last *corev1.Pod) {
	name := subject.Name
	if cause != nil {
		if pod, ok := strings.CutPrefix(cause.Object, "pod/"); ok {
			name = pod
		}
	}
	for _, r := range records {
		if pod, ok := r.Object.(*corev1.Pod); ok && (pod.Name == name || last == nil) {
			last = pod
		}
	}
	return last
}

// waitingPod is the pod that is not ready, the subject itself or the first of a workload's; nil if there is none.
func waitingPod(subject watch.Subject, records []watch.Record) *corev1.Pod {
	last := map[string]*corev1.Pod{}
	var order []string
	for _, r := range records {
		if pod, ok := r.Object.(*corev1.Pod); ok {
			if last[pod.Name] == nil {
				order = append(order, pod.Name)
			}
			if last[pod.Name] = pod; r.Type == apiwatch.Deleted {
				delete(last, pod.Name)
			}
		}
	}
	for _, name := range order {
		if pod := last[name]; pod != nil && !kube.IsReady(pod) && !kube.HasEnded(pod) {
			return pod
		}
	}
	return podOf(subject, records, nil)
}

// describe reads in the pod's specification what a hint may name.
func describe(subject watch.Subject, records []watch.Record, c *v1.Cause) cause.About {
	pod := podOf(subject, records, c)
	if pod == nil {
		return cause.About{Namespace: subject.Namespace, Controlled: subject.Kind != "" &&
			subject.Kind != watch.KindPod}
	}
	about := aboutPod(pod)
	if subject.Kind != "" && subject.Kind != watch.KindPod { // no blueprint made the other containers of a workload
		about.UserString, about.Blueprint = "", ""
	}
	about.Job, about.Bound = subject.Kind == watch.KindJob, areBound(pod, records)
	return about.Of(pod.Spec, c)
}

// areBound is true if all claims of a pod are known, and bound.
func areBound(pod *corev1.Pod, records []watch.Record) bool {
	bound := map[string]bool{}
	for _, r := range records {
		if claim, is := r.Object.(*corev1.PersistentVolumeClaim); is {
			bound[claim.Name] = r.Type != apiwatch.Deleted && claim.Status.Phase == corev1.ClaimBound
		}
	}
	names := evidence.ClaimNames(pod)
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !bound[name] })
}

// aboutPod reads in a pod's labels what a hint may name.
func aboutPod(pod *corev1.Pod) cause.About {
	about := cause.About{
		Namespace: pod.Namespace, Pod: pod.Name, Blueprint: pod.Labels[kube.LabelBlueprint],
		Controlled: metav1.GetControllerOf(pod) != nil,
	}
	about.UserString = userstring.FromAnnotation(pod.Annotations[kube.AnnotationUserString])
	about.Deleting = pod.DeletionTimestamp != nil
	return about
}

// isOwnPod is true for the pod of a workspace that is in no workload.
func isOwnPod(subject watch.Subject, pod *corev1.Pod) bool {
	return pod != nil && pod.Name == subject.Name && (subject.Kind == "" || subject.Kind == watch.KindPod) &&
		kube.IsOfWorkspace(&pod.ObjectMeta) && metav1.GetControllerOf(pod) == nil
}
