package inventory

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
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

// Lookup is Stands, and tells why the pod waits. Where that may not be read, what
// stands there is returned with the error.
func (r Reader) Lookup(ctx context.Context, id string) (Found, error) {
	f, err := r.Stands(ctx, id)
	if err != nil || f.Pod == nil || !r.needsEvents(f.Reading) {
		return f, err
	}
	// Why it waits, and whether it is in vain, stands in its events: the status
	// of its containers lags behind them.
	around, err := r.around(ctx, f.Pod)
	f.Reading = r.Read(f.Pod, around...)
	return f, err
}

// Stands asks for the pod and the record side by side. Of the pod it tells what
// its status does: enough for who removes it.
func (r Reader) Stands(ctx context.Context, id string) (f Found, err error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		f.Pod, f.Version, err = r.findPod(groupCtx, id)
		return err
	})
	group.Go(func() (err error) {
		f.Record, err = r.Records().Latest(groupCtx, id)
		return err
	})
	if err := group.Wait(); err != nil {
		return Found{}, err
	}
	if f.Pod != nil {
		f.Reading = r.Read(f.Pod)
	}
	return f, nil
}

// needsEvents is true for a pod of which the events tell more than its status: why
// it waits, and, where the policy is patient, since when.
func (r Reader) needsEvents(s v1.Snapshot) bool {
	return s.Verdict() == v1.VerdictWaiting || s.Verdict() == v1.VerdictFailed && r.Policy.Patient()
}

// findPod lists instead of getting: the list's version is where the watch goes
// on from.
func (r Reader) findPod(ctx context.Context, id string) (*corev1.Pod, string, error) {
	list, err := r.Client.CoreV1().Pods(r.Client.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, id).String(),
	})
	if err != nil {
		return nil, "", kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: r.Client.Namespace})
	}
	if len(list.Items) == 0 {
		return nil, list.ResourceVersion, nil
	}
	pod := &list.Items[0]
	if pod.Labels[kube.LabelCanonicalID] != kube.LabelValue(id) {
		return nil, "", fault.New(fault.Conflict, "there is a pod %s in namespace %s that is no workspace", id, r.Client.Namespace).
			WithHint("rename or delete it, then try again")
	}
	return pod, list.ResourceVersion, nil
}

// Read is the reading of a pod, and of whatever else is known about it.
func (r Reader) Read(pod *corev1.Pod, others ...runtime.Object) v1.Snapshot {
	snapshot, _ := r.readAt(r.Now(), pod, others)
	return snapshot
}

// readAt also says when time alone may change the reading.
func (r Reader) readAt(now time.Time, pod *corev1.Pod, others []runtime.Object) (v1.Snapshot, time.Time) {
	state := watch.NewState(watch.Subject{Namespace: pod.Namespace, Name: pod.Name}).Apply(apiwatch.Added, pod)
	for _, other := range others {
		state = state.Apply(apiwatch.Added, other)
	}
	return watch.Analyze(state, r.Policy, now)
}
