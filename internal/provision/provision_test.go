package provision

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

const id = "alice-59936c3"

// runOn is a provisioning on a cluster with these objects, and its inputs: a
// chart without objects.
func runOn(t *testing.T, objects ...runtime.Object) (session, *fake.Clientset, decision) {
	t.Helper()
	client := fake.NewClientset(objects...)
	reader := inventory.Reader{
		Client: &kube.Client{
			Interface: client, Dynamic: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()),
			Namespace: "dev",
		},
		Policy: cause.DefaultPolicy(), Now: time.Now,
	}
	p := &Provisioner{Environment: Environment{Reader: reader}}
	s := p.session(id, userstring.Workload{}, event.NewStream("alice", time.Now))
	s.user, s.jobID = userstring.UserString{User: "alice"}, "mine"
	chart, err := release.Render(map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	chart.Objects, chart.Manifest = nil, ""
	dec := decision{deployment: deploy.Deployment{Chart: chart, OwnPod: true}}
	if dec.found, err = s.target.Lookup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if dec.found.Version == "" {
		dec.found.Version = "1" // the fake cluster has no versions of lists
	}
	dec.plan = s.target.Decide(dec.found, dec.deployment)
	return s, client, dec
}

func workspacePod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: id, Namespace: "dev", UID: "old", ResourceVersion: "1",
		Labels: map[string]string{kube.LabelCanonicalID: id, kube.LabelJobID: "older"},
	}}
}

// lockedByBob is a lock that another user holds to provision, for a job of theirs.
func lockedByBob(t *testing.T, s session) *lock.Lock {
	t.Helper()
	return lockedByBobFor(t, s, deploy.ForProvisioning)
}

func lockedByBobFor(t *testing.T, s session, purpose string) *lock.Lock {
	t.Helper()
	locker := deploy.Locker(s.Reader, purpose)
	locker.Self, locker.Job = lock.Holder{User: "bob", Host: "elsewhere", PID: 1, Started: "1", Nonce: "x"}, "theirs"
	held, _, err := locker.Try(t.Context(), id, nil)
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	return held
}

// releasedWhenAwaited gives a lock back when somebody else waits for it.
func releasedWhenAwaited(client *fake.Clientset, theirs *lock.Lock) {
	looks := 0
	client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		looks++
		if looks == 2 { // it waits now
			go theirs.Release(context.Background())
		}
		return false, nil, nil
	})
}

// A workload may be in another namespace: all reads go there then.
func TestForAnotherNamespace(t *testing.T) {
	s, _, _ := runOn(t)
	web := userstring.Workload{Kind: "deployment", Name: "web"}
	for _, c := range []struct {
		user userstring.UserString
		want string
	}{
		{userstring.UserString{User: "alice"}, "dev"},
		{userstring.UserString{User: "alice", Workload: web}, "dev"},
		{userstring.UserString{User: "alice", Workload: web, Namespace: "shop"}, "shop"},
	} {
		if got := s.For(c.user).Client.Namespace; got != c.want {
			t.Errorf("%+v: %s, want %s", c.user, got, c.want)
		}
	}
	if s.Client.Namespace != "dev" {
		t.Errorf("the first one is in %s now", s.Client.Namespace)
	}
}

// Following a pod ends as soon as it is deleted.
func TestSaysThatThePodIsGone(t *testing.T) {
	s, client, dec := runOn(t, workspacePod())
	if dec.plan != deploy.Resume {
		t.Fatalf("the plan is to %s", dec.plan)
	}
	got, err := s.acquire(t.Context(), dec)
	if err != nil {
		t.Fatal(err)
	}
	defer deploy.Release(t.Context(), got.turn.Lock)
	got, err = s.apply(t.Context(), dec, got)
	if err != nil || got.job != "older" {
		t.Fatal(got, err)
	}
	type ended struct {
		reading v1.Snapshot
		err     error
	}
	followed := make(chan ended, 1)
	go func() {
		reading, err := s.report(t.Context(), nil, got.turn.Follower, "", func() {})
		followed <- ended{reading, err}
	}()
	if err := client.CoreV1().Pods("dev").Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	got2 := <-followed
	if got2.err == nil || got2.err.Error() != "pod/"+id+" was deleted" {
		t.Errorf("it ended with %v", got2.err)
	}
	if got2.reading.Verdict() != v1.VerdictGone {
		t.Errorf("the verdict is %s", got2.reading.Verdict())
	}
}

// With --no-wait, the command reports the job of the run that holds the lock.
func TestNoWaitBesideAnother(t *testing.T) {
	s, _, dec := runOn(t)
	s.NoWait = true
	held := lockedByBob(t, s)
	defer held.Release(t.Context())
	got, err := s.acquire(t.Context(), dec)
	if err != nil || !got.leave || got.turn.Lock != nil {
		t.Fatal(got, err)
	}
	o, err := s.end(t.Context(), dec, got, nil)
	if err != nil || o.Workspace == nil || o.Workspace.JobID != "theirs" {
		t.Errorf("%+v, %v", o.Workspace, err)
	}
}

// The same holds for a stopped workspace that the other run starts.
func TestNoWaitBesideAStart(t *testing.T) {
	s, _, dec := runOn(t)
	s.NoWait, dec.kept = true, true
	held := lockedByBob(t, s)
	defer held.Release(t.Context())
	if got, err := s.acquire(t.Context(), dec); err != nil || !got.leave || got.turn.Lock != nil || got.turn.Kept {
		t.Error(got, err)
	}
}

// A claim that does not exist is no claim; a claim that cannot be read is an error.
func TestClaimsThatCannotBeRead(t *testing.T) {
	s, client, _ := runOn(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Name:      "there",
		Namespace: "dev",
	}})
	var wanted []*unstructured.Unstructured
	for _, name := range []string{"there", "missing"} {
		claim := &unstructured.Unstructured{}
		claim.SetName(name)
		wanted = append(wanted, claim)
	}
	got, err := s.claims(t.Context(), wanted)
	if err != nil || len(got) != 2 || got[0] == nil || got[0].Name != "there" || got[1] != nil {
		t.Errorf("%v, %v", got, err)
	}
	client.PrependReactor("get", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), "there",
			errors.New(`User "u" cannot get resource "persistentvolumeclaims" in API group ""`))
	})
	if _, err := s.claims(t.Context(), wanted); fault.CodeOf(err) != fault.PermissionDenied ||
		!strings.Contains(err.Error(), "you may not get persistentvolumeclaims ") {
		t.Error(err)
	}
}

const overQuota = `pods "` + id + `" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0`

// refusedRecord is what a run leaves whose pod the cluster refuses.
func refusedRecord(chart *release.Rendered, at time.Time) *helm.Release {
	record := release.NewRecord(id, "dev", chart, at)
	record.Manifest = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + id + ", labels: {" + kube.LabelJobID +
		": theirs}}\n"
	release.Refused(record, "pod/"+id, overQuota)
	return record
}

// endedRefused checks the end of a run that learned of a refusal.
func endedRefused(t *testing.T, s session, dec decision, seen progress, err error) {
	t.Helper()
	if fault.CodeOf(err) != fault.Failed {
		t.Fatalf("it ended with %v", err)
	}
	o, _ := s.end(t.Context(), dec, seen, err)
	if o.Workspace.Stage != v1.StageFailed || o.Workspace.Cause == nil ||
		o.Workspace.Cause.Code != cause.QuotaExceeded {
		t.Errorf("%+v", o.Workspace.Snapshot)
	}
	if o.Workspace.JobID != "theirs" || o.Left != v1.LeftKept {
		t.Errorf("the job is %s, it is %q", o.Workspace.JobID, o.Left)
	}
}

// A run that waits for another run whose pod is refused fails with the same error, and writes nothing.
func TestWaitingForARefusal(t *testing.T) {
	s, client, dec := runOn(t)
	theirs := lockedByBob(t, s)
	if err := s.Records().Create(t.Context(), refusedRecord(dec.deployment.Chart, time.Now())); err != nil {
		t.Fatal(err)
	}
	releasedWhenAwaited(client, theirs)
	got, err := s.acquire(t.Context(), dec)
	endedRefused(t, s, dec, got, err)
}

// A run that waits for a provisioning whose pod fails ends with the same error. After any other command it
// goes on by itself.
func TestWaitingForAFailure(t *testing.T) {
	for name, test := range map[string]struct {
		purpose string
		ends    bool
	}{"a provisioning": {deploy.ForProvisioning, true}, "a stop": {deploy.ForStopping, false}} {
		t.Run(name, func(t *testing.T) {
			pod := workspacePod()
			pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
			s, client, dec := runOn(t, pod)
			var said []string
			stream := event.NewStream("alice", time.Now, sink(func(e v1.Event) {
				if e.Progress != nil {
					said = append(said, e.Progress.Message)
				}
			}))
			s = s.on(s.Provisioner, stream)
			s.WaitForLock = true
			theirs := lockedByBobFor(t, s, test.purpose)
			releasedWhenAwaited(client, theirs)
			got, err := s.acquire(t.Context(), dec)
			deploy.Release(t.Context(), got.turn.Lock)
			if (fault.CodeOf(err) == fault.Failed) != test.ends {
				t.Error(err)
			}
			stream.Finish(v1.Result{})
			if want := "bob on elsewhere (process 1) is already working on it (" + test.purpose +
				"); following"; !slices.Contains(said, want) {
				t.Errorf("%q does not say %q", said, want)
			}
		})
	}
}

// A run that waits for another run ends when the pod is stuck, however long the other one stays.
func TestWaitingForWhatIsStuck(t *testing.T) {
	pod, hourAgo := workspacePod(), metav1.NewTime(time.Now().Add(-time.Hour))
	pod.CreationTimestamp, pod.Status.Phase = hourAgo, corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		LastTransitionTime: hourAgo,
		Message:            "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
	}}
	s, _, dec := runOn(t, pod)
	s.Policy.StuckDelay, s.Policy.StuckAfter = time.Millisecond, 2*time.Millisecond
	theirs := lockedByBob(t, s)
	defer theirs.Release(context.Background())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := s.acquire(ctx, dec); fault.ReasonOf(err) != deploy.ReasonStuck {
		t.Errorf("it ends with %v", err)
	}
}

// A lock that is not renewed is waited for, but not another one that is taken meanwhile.
func TestAnotherHolderTakesTheLock(t *testing.T) {
	s, client, dec := runOn(t, workspacePod())
	theirs := lockedByBobFor(t, s, deploy.ForStopping)
	leases := client.CoordinationV1().Leases("dev")
	all, err := leases.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(all.Items) != 1 {
		t.Fatal(all, err)
	}
	theirs.Release(t.Context())
	lease := &all.Items[0]
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-lock.Duration - time.Second)}
	if _, err := leases.Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	stream := event.NewStream("alice", time.Now, sink(func(e v1.Event) {
		if e.Progress == nil || !strings.Contains(e.Progress.Message, "has not renewed the lock") {
			return
		}
		now, carol := metav1.NowMicro(), strings.Replace(*lease.Spec.HolderIdentity, "bob", "carol", 1)
		lease.Spec.RenewTime, lease.Spec.AcquireTime, lease.Spec.HolderIdentity = &now, &now, &carol
		if _, err := leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
			t.Error(err)
		}
	}))
	defer stream.Finish(v1.Result{})
	s = s.on(s.Provisioner, stream)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = s.acquire(ctx, dec)
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "carol") {
		t.Errorf("it ends with %v", err)
	}
}

// sink is told each event.
type sink func(v1.Event)

// Handle passes an event on.
func (f sink) Handle(e v1.Event) { f(e) }

// The pod is followed while the command waits, so its failure is known even after it was deleted.
func TestWaitingForAFailureThatIsRemoved(t *testing.T) {
	s, client, dec := runOn(t, workspacePod())
	theirs := lockedByBob(t, s)
	pods := client.CoreV1().Pods("dev")
	react := func(stage v1.Stage) {
		if stage != v1.StageFailed {
			failing := workspacePod()
			failing.ResourceVersion, failing.Status.Phase, failing.Status.Reason = "2", corev1.PodFailed, "Evicted"
			if _, err := pods.Update(t.Context(), failing, metav1.UpdateOptions{}); err != nil &&
				!apierrors.IsNotFound(err) {
				t.Error(err)
			}
			return
		}
		if err := pods.Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		theirs.Release(t.Context())
	}
	s = s.on(s.Provisioner, event.NewStream("alice", time.Now, sink(func(e v1.Event) {
		if e.Stage != nil {
			go react(e.Stage.Stage)
		}
	})))
	got, err := s.acquire(t.Context(), dec)
	deploy.Release(t.Context(), got.turn.Lock)
	if fault.CodeOf(err) != fault.Failed || got.left != v1.LeftDeleted {
		t.Errorf("%v, it is %q", err, got.left)
	}
}

// The same holds if the other run ends between the lookup and the lock.
func TestRefusedBetweenLookupAndLock(t *testing.T) {
	s, _, dec := runOn(t)
	if err := s.Records().Create(t.Context(), refusedRecord(dec.deployment.Chart, time.Now())); err != nil {
		t.Fatal(err)
	}
	got, err := s.acquire(t.Context(), dec)
	if err != nil || got.turn.Lock == nil {
		t.Fatal(got, err)
	}
	defer deploy.Release(t.Context(), got.turn.Lock)
	got, err = s.apply(t.Context(), dec, got)
	endedRefused(t, s, dec, got, err)
}

// mayOnly lets the caller do nothing but this.
func mayOnly(client *fake.Clientset, may ...rbac.Access) {
	client.PrependReactor("create", "selfsubjectrulesreviews", func(clienttesting.Action) (bool, runtime.Object,
		error,
	) {
		review := &authorizationv1.SelfSubjectRulesReview{}
		for _, a := range may {
			review.Status.ResourceRules = append(review.Status.ResourceRules, authorizationv1.ResourceRule{
				Verbs: []string{a.Verb}, APIGroups: []string{a.Group}, Resources: []string{a.Resource},
			})
		}
		return true, review, nil
	})
}

// The error about missing permissions says what they are needed for, and nothing is locked.
func TestWhatAPermissionIsMissingFor(t *testing.T) {
	web := userstring.Workload{Kind: "deployment", Name: "web"}
	s, client, dec := runOn(t)
	mayOnly(client)
	may := deploy.Permissions{Review: rbac.Review{Namespace: "dev"}}
	intoWeb := s.session(id, web, event.NewStream("alice", time.Now))
	_, _, removal := s.remove(t.Context(), dec.found, deploy.Removing{})
	_, _, ejection := intoWeb.remove(t.Context(), inventory.Found{}, deploy.Removing{})
	for name, check := range map[string]struct {
		err  error
		says string
	}{
		"a removal":         {removal, "deleting " + id},
		"an ejection":       {ejection, "deleting " + id},
		"an injection":      {may.Check("provisioning "+id, rbac.Inject, nil), "provisioning " + id},
		"one that is alone": {may.Check("provisioning "+id, rbac.Provision, nil), "provisioning " + id},
	} {
		if fault.CodeOf(check.err) != fault.PermissionDenied ||
			!strings.Contains(check.err.Error(), "that "+check.says+" requires") {
			t.Errorf("%s: %v", name, check.err)
		}
	}
	leases, err := client.CoordinationV1().Leases("dev").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(leases.Items) > 0 {
		t.Errorf("%d locks, %v", len(leases.Items), err)
	}
}
