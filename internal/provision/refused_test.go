package provision

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch/cause"
)

const overQuota = `pods "` + id + `" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0`

// refusedRecord is what a run leaves whose pod the cluster does not take.
func refusedRecord(r *run, at time.Time) *helm.Release {
	record := release.NewRecord(r.id, r.namespace, r.rendered, at)
	record.Manifest = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + id + ", labels: {" + kube.LabelJobID + ": theirs}}\n"
	release.Refused(record, "pod/"+id, overQuota)
	return record
}

// Which refusals are news to who has looked before.
func TestRefusedSince(t *testing.T) {
	r, now := runOn(t, nil), time.Now()
	refused := refusedRecord(r, now)
	for _, test := range []struct {
		name        string
		before, now *helm.Release
		want        bool
	}{
		{"nothing there", nil, nil, false},
		{"being installed", nil, release.NewRecord(id, "dev", r.rendered, now), false},
		{"refused, where nothing was", nil, refused, true},
		{"refused, what was being installed", release.NewRecord(id, "dev", r.rendered, now), refused, true},
		{"the refusal from before", refusedRecord(r, now), refused, false},
		{"refused once more", refusedRecord(r, now.Add(-time.Minute)), refused, true},
		{"being installed again", refused, release.NewRecord(id, "dev", r.rendered, now), false},
	} {
		if got := refusedSince(test.before, test.now); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

// Who waits for a run whose pod is refused ends the same, and sends nothing.
func TestWaitingForARefusal(t *testing.T) {
	r := runOn(t, nil)
	r.jobID = "mine"
	r.lookedUp(t)
	other := r.locker(provisioning)
	other.Self = lock.Holder{User: "bob", Host: "elsewhere", PID: 1, Started: "1", Nonce: "x"}
	theirs, _, err := other.Try(t.Context(), id, nil)
	if err != nil || theirs == nil {
		t.Fatal(theirs, err)
	}
	if err := r.Records().Create(t.Context(), refusedRecord(r, time.Now())); err != nil {
		t.Fatal(err)
	}
	locker := r.locker(provisioning)
	_, holder, err := locker.Try(t.Context(), id, nil)
	if err != nil || holder == nil {
		t.Fatal(holder, err)
	}
	theirs.Release(t.Context())
	held, _, err := r.followHolder(t.Context(), locker, holder)
	if held != nil {
		held.Release(t.Context())
		t.Error("it took the lock, to send the pod again")
	}
	r.endedRefused(t, err)
	next, _, err := other.Try(t.Context(), id, nil)
	if err != nil || next == nil {
		t.Fatalf("the lock was not given back: %v", err)
	}
	next.Release(t.Context())
}

// So does who finds the lock free, but looked before.
func TestRefusedBetweenLookupAndLock(t *testing.T) {
	r := runOn(t, nil)
	plan := r.lookedUp(t)
	if err := r.Records().Create(t.Context(), refusedRecord(r, time.Now())); err != nil {
		t.Fatal(err)
	}
	held, plan, err := r.acquire(t.Context(), plan)
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	defer held.Release(t.Context())
	r.endedRefused(t, r.carryOut(t.Context(), held, plan))
}

func (r *run) endedRefused(t *testing.T, err error) {
	t.Helper()
	if fault.CodeOf(err) != fault.Failed {
		t.Fatalf("it ended with %v", err)
	}
	o := r.outcome(t.Context(), err)
	if o.Workspace.Stage != v1.StageFailed || o.Workspace.Cause == nil || o.Workspace.Cause.Code != cause.QuotaExceeded {
		t.Errorf("%+v", o.Workspace.Snapshot)
	}
	if o.Workspace.JobID != "theirs" || o.Left != v1.LeftKept {
		t.Errorf("the job is %s, it is %q", o.Workspace.JobID, o.Left)
	}
}

// Only who has the lock writes the refusal: the record may be somebody else's.
func TestRefusalIsWrittenUnderTheLock(t *testing.T) {
	by := &kube.RefusedError{Call: kube.Call{Verb: "create", Resource: "pods", Namespace: "dev", Name: id}, Message: overQuota}
	for _, test := range []struct {
		name string
		lose func(r *run, cancel context.CancelFunc)
		want helm.Status
	}{
		{"held", func(*run, context.CancelFunc) {}, helm.StatusFailed},
		{"known to be lost", func(_ *run, cancel context.CancelFunc) { cancel() }, helm.StatusPendingInstall},
		{"lost while the host was suspended", func(r *run, _ context.CancelFunc) {
			if err := r.Client.CoordinationV1().Leases("dev").Delete(t.Context(), kube.Name("berth", id), metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}, helm.StatusPendingInstall},
	} {
		r := runOn(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		locker := r.locker(provisioning)
		var suspended atomic.Int64
		locker.Now = func() time.Time { return time.Now().Add(time.Duration(suspended.Load())) }
		held, _, err := locker.Try(ctx, id, nil)
		if err != nil {
			t.Fatal(err)
		}
		record, err := r.record(ctx)
		if err != nil {
			t.Fatal(err)
		}
		suspended.Store(int64(time.Minute))
		test.lose(r, cancel)
		if err := r.refused(ctx, held, record, by); fault.CodeOf(err) != fault.Failed {
			t.Errorf("%s: it ended with %v", test.name, err)
		}
		kept, err := r.Records().Latest(t.Context(), id)
		if err != nil || kept.Info.Status != test.want {
			t.Errorf("%s: the record is %s, %v", test.name, kept.Info.Status, err)
		}
		held.Release(t.Context())
		cancel()
	}
}

// A record that the API server declines is not made; one whose answer is lost
// may be.
func TestWhetherTheRecordIsMade(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	for _, test := range []struct {
		answer error
		made   bool
	}{
		{apierrors.NewForbidden(secrets, "x", errors.New("exceeded quota: q")), false},
		{apierrors.NewForbidden(secrets, "x", errors.New(`User "alice" cannot create resource "secrets"`)), false},
		{apierrors.NewTimeoutError("slow", 1), true},
		{errors.New("connection reset by peer"), true},
	} {
		r := runOn(t, nil)
		client, _ := r.Client.Interface.(*fake.Clientset)
		client.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, test.answer
		})
		if _, err := r.record(t.Context()); err == nil || r.creation.any() != test.made {
			t.Errorf("%v: %v, made: %t", test.answer, err, r.creation.any())
		}
	}
}
