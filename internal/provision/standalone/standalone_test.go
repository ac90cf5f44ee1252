package standalone

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch/cause"
)

const id = "alice-59936c3"

// on is a target on a cluster with these objects, and its deployment: a chart
// without objects.
func on(t *testing.T, objects ...runtime.Object) (Target, *fake.Clientset, deploy.Deployment) {
	t.Helper()
	client := fake.NewClientset(objects...)
	chart, err := release.Render(map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	chart.Objects, chart.Manifest = nil, ""
	reader := inventory.Reader{
		Client: &kube.Client{Interface: client, Namespace: "dev"}, Policy: cause.DefaultPolicy(),
		Now: time.Now,
	}
	steps := deploy.NewSteps(event.NewStream("alice", time.Now), time.Now)
	return Target{Reader: reader, ID: id, Steps: steps}, client, deploy.Deployment{Chart: chart, OwnPod: true}
}

func workspacePod(deleting bool) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: id, Namespace: "dev", UID: "old", ResourceVersion: "1",
		Labels: map[string]string{kube.LabelCanonicalID: id},
	}}
	if deleting {
		at := metav1.Now()
		pod.DeletionTimestamp, pod.Finalizers = &at, []string{"example.com/slow"}
	}
	return pod
}

// turnOf takes the lock and opens the watches.
func turnOf(t *testing.T, target Target, d deploy.Deployment) deploy.Turn {
	t.Helper()
	found, err := target.Lookup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if found.Version == "" {
		found.Version = "1" // the fake cluster has no versions of lists
	}
	turn := deploy.Turn{Found: found, Plan: target.Decide(found, d)}
	if turn.Follower, err = target.Watch(t.Context(), found, d); err != nil {
		t.Fatal(err)
	}
	locker := lock.Locker{
		Leases: target.Client.CoordinationV1().Leases("dev"), Namespace: "dev", Self: lock.Self(),
		Now: target.Now,
	}
	if turn.Lock, _, err = locker.Try(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { turn.Lock.Release(context.Background()) })
	return turn
}

func TestWaitsForTheOldPod(t *testing.T) {
	target, client, d := on(t, workspacePod(true))
	turn := turnOf(t, target, d)
	if turn.Plan != deploy.Await {
		t.Fatalf("the plan is to %s", turn.Plan)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := target.BringUp(short, turn, d); err == nil {
		t.Error("it continued beside the old pod")
	}
	if record, err := target.Records().Latest(t.Context(), id); err != nil || record != nil {
		t.Errorf("a record was written: %+v, %v", record, err)
	}
	ready := make(chan error, 1)
	go func() {
		_, err := target.BringUp(t.Context(), turn, d)
		ready <- err
	}()
	if err := client.CoreV1().Pods("dev").Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := <-ready; err != nil {
		t.Errorf("the old pod is gone, but %v", err)
	}
}

func TestHealsTheRecordOfAKilledRun(t *testing.T) {
	target, client, d := on(t)
	left := release.NewRecord(id, "dev", d.Chart, time.Now().Add(-time.Hour))
	if err := target.Records().Create(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	turn := turnOf(t, target, d)
	if turn.Plan != deploy.Install || turn.Found.Record.Info.Status != helm.StatusPendingInstall {
		t.Fatalf("the plan is to %s with %+v", turn.Plan, turn.Found.Record)
	}
	result, err := target.BringUp(t.Context(), turn, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := target.Complete(t.Context(), d, result); err != nil {
		t.Fatal(err)
	}
	healed, err := target.Records().Latest(t.Context(), id)
	if err != nil || healed.Info.Status != helm.StatusDeployed || healed.Version != 1 {
		t.Errorf("%+v, %v", healed, err)
	}
	secrets, err := client.CoreV1().Secrets("dev").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(secrets.Items) != 1 {
		t.Errorf("%d records, %v", len(secrets.Items), err)
	}
	// With its pod already there, what is missing is completed.
	if plan := (Target{}).Decide(withRecord(helm.StatusPendingInstall), deploy.Deployment{}); plan != deploy.Resume {
		t.Errorf("with a pod, the plan is to %s", plan)
	}
}

// What outlives its release stays in the record of the next, or nobody would find it any more.
func TestRecordNamesWhatIsKept(t *testing.T) {
	target, _, d := on(t)
	left := release.NewRecord(id, "dev", d.Chart, time.Now())
	for _, name := range []string{"data", "home"} {
		left.Manifest += "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name + "}\n"
	}
	if err := target.Records().Create(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	result, err := target.BringUp(t.Context(), turnOf(t, target, d), d)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := release.Objects(result.Record.Manifest)
	if err != nil || len(objects) != 2 || objects[0].GetName() != "data" || objects[1].GetName() != "home" {
		t.Errorf("%v, %v:\n%s", objects, err, result.Record.Manifest)
	}
}

// Once all is created the record is completed, though the time is over; a record
// that was removed meanwhile is written again.
func TestComplete(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	target, _, d := on(t)
	for name, record := range map[string]*helm.Release{
		"pending": release.NewRecord(id, "dev", d.Chart, time.Now()),
		"removed": nil,
	} {
		if record != nil {
			if err := target.Records().Create(t.Context(), record); err != nil {
				t.Fatal(err)
			}
		}
		if err := target.Complete(over, d, deploy.Result{Record: record}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		completed, err := target.Records().Latest(t.Context(), id)
		if err != nil || completed == nil || completed.Info.Status != helm.StatusDeployed {
			t.Errorf("%s: %+v, %v", name, completed, err)
		}
		if _, err := target.Records().Purge(t.Context(), id, confirmer(nil), apply.DryRunNone); err != nil {
			t.Fatal(err)
		}
	}
}

// A record that the API server declines is not written, nor is one of another
// user; one whose answer is lost may be.
func TestWhetherTheRecordIsWritten(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	for _, test := range []struct {
		answer error
		begun  bool
	}{
		{nil, true},
		{apierrors.NewForbidden(secrets, "x", errors.New("exceeded quota: q")), false},
		{apierrors.NewForbidden(secrets, "x", errors.New(`User "alice" cannot create resource "secrets"`)), false},
		{apierrors.NewAlreadyExists(secrets, "x"), false},
		{apierrors.NewTimeoutError("slow", 1), true},
		{errors.New("connection reset by peer"), true},
	} {
		target, client, d := on(t)
		client.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
			return test.answer != nil, nil, test.answer
		})
		result, err := target.BringUp(t.Context(), turnOf(t, target, d), d)
		if (err != nil) != (test.answer != nil) || result.Changes.Any() != test.begun {
			t.Errorf("%v: %v, begun: %t", test.answer, err, result.Changes.Any())
		}
	}
}

// A preview shows the record as it is in the end, not as it is while objects are created.
func TestPreviewOfTheRecord(t *testing.T) {
	target, _, d := on(t)
	changes, err := target.Preview(t.Context(), deploy.Install, inventory.Found{}, d, apply.DryRunServer)
	if err != nil || len(changes) != 1 || changes[0].Object.GetLabels()["status"] != string(helm.StatusDeployed) {
		t.Errorf("%+v, %v", changes, err)
	}
}

// What the API server refuses in a dry run is an error of the preview.
func TestPreviewOfWhatIsRefused(t *testing.T) {
	target, client, d := on(t)
	client.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "x",
			errors.New("exceeded quota: q"))
	})
	changes, err := target.Preview(t.Context(), deploy.Install, inventory.Found{}, d, apply.DryRunServer)
	if err == nil || changes != nil {
		t.Errorf("%v, %v", changes, err)
	}
}

// A record whose creation was answered with an error, and that is there, is written: it is not
// tried again.
func TestCompleteWithALostAnswer(t *testing.T) {
	target, client, d := on(t)
	creations := 0
	client.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		creations++
		return true, nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, "x")
	})
	if err := target.Complete(t.Context(), d, deploy.Result{}); err != nil || creations != 1 {
		t.Errorf("%v after %d creations", err, creations)
	}
}

// A refusal of something else than the pod, without a known cause, stays the error that it is,
// and Helm's record stays as it is.
func TestRefusalOfAnotherObject(t *testing.T) {
	for message, want := range map[string]helm.Status{
		`configmaps "x" is forbidden: exceeded quota: q, requested: configmaps=1`: helm.StatusFailed,
		"admission webhook denied the request: no":                                helm.StatusPendingInstall,
	} {
		target, _, d := on(t)
		turn := turnOf(t, target, d)
		record, _, err := target.writeRecord(t.Context(), deploy.Turn{}, d, apply.DryRunNone)
		if err != nil {
			t.Fatal(err)
		}
		by := &kube.RefusedError{
			Call:    kube.Call{Verb: "create", Resource: "configmaps", Namespace: "dev", Name: "x"},
			Message: message,
		}
		result, err := target.refused(t.Context(), turn.Lock, d, deploy.Result{Record: record}, by, by)
		kept, readErr := target.Records().Latest(t.Context(), id)
		if err == nil || readErr != nil || kept.Info.Status != want ||
			(result.Reading.Stage == v1.StageFailed) != (want == helm.StatusFailed) {
			t.Errorf("%s: %v, %+v", message, err, kept.Info)
		}
	}
}

// What was found without a lock may have been changed since: the record says so, and then it is
// looked for again. A namespace that is gone is another matter.
func TestKeptWorkspaceThatWasChanged(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	for name, test := range map[string]struct {
		answer  error
		kept    bool
		changed bool
	}{
		"changed": {apierrors.NewConflict(secrets, "x", errors.New("modified")), true, true},
		"deleted": {apierrors.NewNotFound(secrets, "x"), true, true},
		"the namespace is gone": {
			apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "dev"), true,
			false,
		},
		"refused": {
			apierrors.NewForbidden(secrets, "x", errors.New("exceeded quota: q")), true,
			false,
		},
		"changed, but found by us": {apierrors.NewConflict(secrets, "x", errors.New("modified")), false, false},
	} {
		target, client, d := on(t)
		turn := turnOf(t, target, d)
		turn.Kept = test.kept
		client.PrependReactor("create", "secrets",
			func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, test.answer })
		_, _, err := target.writeRecord(t.Context(), turn, d, apply.DryRunNone)
		if err == nil || errors.Is(err, deploy.ErrChanged) != test.changed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Only the holder of the lock writes the refusal: the record may be another's.
func TestRefusalIsWrittenUnderTheLock(t *testing.T) {
	const overQuota = `pods "` + id + `" is forbidden: exceeded quota: q, requested: pods=1, used: ` +
		`pods=0, limited: pods=0`
	by := &kube.RefusedError{
		Call:    kube.Call{Verb: "create", Resource: "pods", Namespace: "dev", Name: id},
		Message: overQuota,
	}
	for _, test := range []struct {
		name string
		lose func(client *fake.Clientset, cancel context.CancelFunc)
		want helm.Status
	}{
		{"held", func(*fake.Clientset, context.CancelFunc) {}, helm.StatusFailed},
		{
			"known to be lost", func(_ *fake.Clientset, cancel context.CancelFunc) { cancel() },
			helm.StatusPendingInstall,
		},
		{"lost while the host was suspended", func(client *fake.Clientset, _ context.CancelFunc) {
			if err := client.CoordinationV1().Leases("dev").
				Delete(t.Context(), kube.Name("berth", id), metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}, helm.StatusPendingInstall},
	} {
		target, client, d := on(t)
		ctx, cancel := context.WithCancel(t.Context())
		var suspended atomic.Int64
		target.Now = func() time.Time { return time.Now().Add(time.Duration(suspended.Load())) }
		held := turnOf(t, target, d).Lock
		record, _, err := target.writeRecord(ctx, deploy.Turn{}, d, apply.DryRunNone)
		if err != nil {
			t.Fatal(err)
		}
		suspended.Store(int64(time.Minute))
		test.lose(client, cancel)
		result, err := target.refused(ctx, held, d, deploy.Result{Record: record}, by, by)
		if fault.CodeOf(err) != fault.Failed || result.Reading.Verdict() != v1.VerdictFailed {
			t.Errorf("%s: it ended with %v, %+v", test.name, err, result.Reading)
		}
		kept, err := target.Records().Latest(t.Context(), id)
		if err != nil || kept.Info.Status != test.want {
			t.Errorf("%s: the record is %s, %v", test.name, kept.Info.Status, err)
		}
		cancel()
	}
}

// After the first run nothing is left; what was there before stays.
func TestUndo(t *testing.T) {
	for name, test := range map[string]struct {
		before inventory.Found
		gone   bool
	}{
		"the first run": {inventory.Found{}, true},
		"beside a pod that was going": {inventory.Found{
			Pod:     workspacePod(true),
			Reading: v1.Snapshot{Stage: v1.StageTerminating},
		}, true},
		"an installed workspace": {inventory.Found{Record: &helm.Release{}}, false},
	} {
		target, _, d := on(t)
		record, _, err := target.writeRecord(t.Context(), deploy.Turn{}, d, apply.DryRunNone)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := target.Undo(t.Context(), deploy.Turn{Found: test.before}, d,
			deploy.Result{Record: record}); err != nil {
			t.Fatal(err)
		}
		left, err := target.Records().Latest(t.Context(), id)
		if err != nil || (left == nil) != test.gone {
			t.Errorf("%s: left is %+v, %v", name, left, err)
		}
	}
}

// A removal that is only previewed names the record and leaves it.
func TestPreviewedRemovalKeepsTheRecord(t *testing.T) {
	target, client, d := on(t)
	if err := target.Records().Create(t.Context(), release.NewRecord(id, "dev", d.Chart, time.Now())); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []apply.DryRun{apply.DryRunClient, apply.DryRunServer} {
		client.ClearActions()
		purged, err := target.Records().Purge(t.Context(), id, confirmer(nil), mode)
		if err != nil || len(purged) != 1 || purged[0].Action != apply.Deleted ||
			purged[0].Object.GetKind() != "Secret" {
			t.Errorf("%s: %+v, %v", mode, purged, err)
		}
		for _, action := range client.Actions() {
			deletion, is := action.(clienttesting.DeleteActionImpl)
			if is && (mode == apply.DryRunClient || len(deletion.DeleteOptions.DryRun) != 1) {
				t.Errorf("%s: the record is deleted with %+v", mode, deletion.DeleteOptions)
			}
		}
	}
}

// A moment in which the API server cannot be reached does not fail a run whose
// workspace comes up.
func TestCompleteAfterAnOutage(t *testing.T) {
	target, client, d := on(t)
	record := release.NewRecord(id, "dev", d.Chart, time.Now())
	if err := target.Records().Create(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	tries := 0
	client.PrependReactor("update", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		tries++
		return tries < 3, nil, apierrors.NewServiceUnavailable("away")
	})
	if err := target.Complete(t.Context(), d, deploy.Result{Record: record}); err != nil || tries != 3 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	if latest, err := target.Records().Latest(t.Context(), id); err != nil ||
		latest.Info.Status != helm.StatusDeployed {
		t.Errorf("%+v, %v", latest, err)
	}
}
