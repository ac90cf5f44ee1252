package provision

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// found is what stands on the cluster under a workspace's name.
type found struct {
	pod     *corev1.Pod
	version string // of the list that the pod was or was not in
	reading v1.Snapshot
	record  *helm.Release
	// workload is what the workspace is, or is to be, injected into.
	workload *workload
}

// plan is what is to be done about what was found.
type plan string

const (
	install plan = "install" // nothing is there, or a record without a pod
	refuse  plan = "refuse"  // it runs
	resume  plan = "resume"  // a pod is on its way: complete what is missing, follow
	replace plan = "replace" // a pod failed, stopped or was asked to: make a new one
	await   plan = "await"   // a pod is going: wait, then install
)

// String says what is planned, for the person who waits.
func (p plan) String() string {
	switch p {
	case install:
		return "" // nothing is there, or nothing worth a word
	case refuse:
		return "running already"
	case resume:
		return "on its way: following it"
	case replace:
		return "failed or stopped before: making it anew"
	case await:
		return "the one before is ending: waiting for that"
	}
	return string(p)
}

// decide is the one place where it is decided what a provisioning does with
// what it finds.
func (f found) decide() plan {
	if f.workload != nil {
		return f.decideInjected()
	}
	if f.pod == nil {
		return install
	}
	halfDone := f.record == nil || f.record.Info.Status != helm.StatusDeployed
	verdict := f.reading.Verdict()
	if verdict != v1.VerdictTerminating && f.reading.Status == v1.StatusStopping {
		return replace // somebody asked it to stop: it is as good as stopped
	}
	switch verdict {
	case v1.VerdictRunning:
		if halfDone {
			return resume
		}
		return refuse
	case v1.VerdictTerminating:
		return await
	case v1.VerdictFailed, v1.VerdictStopped:
		return replace
	default:
		return resume
	}
}

// lookup asks for the pod and the record side by side.
func (p *Provisioner) lookup(ctx context.Context, id string) (f found, err error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		f.pod, f.version, err = p.findPod(groupCtx, id)
		return err
	})
	group.Go(func() (err error) {
		f.record, err = p.records().Latest(groupCtx, id)
		return err
	})
	if err := group.Wait(); err != nil {
		return found{}, err
	}
	if f.pod == nil {
		return f, nil
	}
	f.reading = p.read(f.pod)
	if !p.needsEvents(f.reading) {
		return f, nil
	}
	// Why it waits, and whether it is in vain, stands in its events: the status
	// of its containers lags behind them.
	around, err := p.around(ctx, f.pod)
	f.reading = p.read(f.pod, around...)
	return f, err
}

// needsEvents is true for a pod of which the events tell more than its status: why
// it waits, and, where the policy is patient, since when.
func (p *Provisioner) needsEvents(s v1.Snapshot) bool {
	return s.Verdict() == v1.VerdictWaiting || s.Verdict() == v1.VerdictFailed && p.Policy.Patient()
}

// findPod lists instead of getting: the list's version is where the watch goes
// on from.
func (p *Provisioner) findPod(ctx context.Context, id string) (*corev1.Pod, string, error) {
	list, err := p.Client.CoreV1().Pods(p.Client.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, id).String(),
	})
	if err != nil {
		return nil, "", kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: p.Client.Namespace})
	}
	if len(list.Items) == 0 {
		return nil, list.ResourceVersion, nil
	}
	pod := &list.Items[0]
	if pod.Labels[kube.LabelCanonicalID] != kube.LabelValue(id) {
		return nil, "", fault.New(fault.Conflict, "there is a pod %s in namespace %s that is no workspace", id, p.Client.Namespace).
			WithHint("rename or delete it, then try again")
	}
	return pod, list.ResourceVersion, nil
}

// read is the reading of a pod, and of whatever else is known about it.
func (p *Provisioner) read(pod *corev1.Pod, others ...runtime.Object) v1.Snapshot {
	snapshot, _ := p.readAt(p.Now(), pod, others)
	return snapshot
}

// readAt also says when time alone may change the reading.
func (p *Provisioner) readAt(now time.Time, pod *corev1.Pod, others []runtime.Object) (v1.Snapshot, time.Time) {
	state := watch.NewState(watch.Subject{Namespace: pod.Namespace, Name: pod.Name}).Apply(apiwatch.Added, pod)
	for _, other := range others {
		state = state.Apply(apiwatch.Added, other)
	}
	return watch.Analyze(state, p.Policy, now)
}
