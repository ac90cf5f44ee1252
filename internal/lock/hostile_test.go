package lock

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
)

// leased is a locker beside a lease that somebody has written.
func leased(spec coordinationv1.LeaseSpec, annotations map[string]string) (Locker, *fake.Clientset) {
	client := fake.NewClientset(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name("alice-1"), Namespace: "ns", Annotations: annotations}, Spec: spec,
	})
	return Locker{Leases: client.CoordinationV1().Leases("ns"), Namespace: "ns", Self: Self(), Now: time.Now}, client
}

// A lease without a holder or a time is free; what is said of one that is held is
// short, whatever is written there.
func TestOddLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("x", 1<<20)
		now, future := metav1.NewMicroTime(time.Now()), metav1.NewMicroTime(time.Now().AddDate(5000, 0, 0))
		for name, test := range map[string]struct {
			spec coordinationv1.LeaseSpec
			free bool
		}{
			"nothing":   {coordinationv1.LeaseSpec{}, true},
			"no time":   {coordinationv1.LeaseSpec{HolderIdentity: new("bob")}, true},
			"no holder": {coordinationv1.LeaseSpec{RenewTime: &now}, true},
			"an absurd duration": {coordinationv1.LeaseSpec{
				HolderIdentity: new("bob"), RenewTime: &now,
				LeaseDurationSeconds: new(int32(math.MaxInt32)),
			}, false},
			"a negative duration": {coordinationv1.LeaseSpec{
				HolderIdentity: new("bob"), RenewTime: &now,
				LeaseDurationSeconds: new(int32(math.MinInt32)),
			}, false},
			"a time to come":      {coordinationv1.LeaseSpec{HolderIdentity: new("bob"), RenewTime: &future}, false},
			"a huge holder":       {coordinationv1.LeaseSpec{HolderIdentity: &long, RenewTime: &now}, false},
			"a huge part":         {coordinationv1.LeaseSpec{HolderIdentity: new(long + "@h/1/2/3"), RenewTime: &now}, false},
			"a process that is 0": {coordinationv1.LeaseSpec{HolderIdentity: new("bob@h/0/2/3"), RenewTime: &now}, false},
			"a process below 0": {coordinationv1.LeaseSpec{
				HolderIdentity: new("bob@" + host() + "/-1/2/3"),
				RenewTime:      &now,
			}, false},
			"a process out of view": {coordinationv1.LeaseSpec{
				HolderIdentity: new("bob@h/99999999999999999999/2/3"),
				RenewTime:      &now,
			}, false},
		} {
			l, _ := leased(test.spec, map[string]string{annotationPurpose: long, annotationJob: long})
			held, seen, err := l.Try(t.Context(), "alice-1", nil)
			if err != nil || (held != nil) != test.free {
				t.Errorf("%s: %v, %+v, %v", name, held, seen, err)
			}
			if held != nil {
				held.Release(t.Context())
				continue
			}
			if said := seen.Holder.Human() + seen.Purpose + seen.Job; len(said) > 1000 {
				t.Errorf("%s: %d bytes", name, len(said))
			}
			time.Sleep(Duration + time.Second)
			if held, _, err = l.Try(t.Context(), "alice-1", seen); err != nil || held == nil {
				t.Errorf("%s: not renewed, and not free: %v", name, err)
				continue
			}
			held.Release(t.Context())
		}
	})
}

// A lease that changes each time, or is there only when it is created, is given up.
func TestTriesAreBounded(t *testing.T) {
	for verb, answer := range map[string]error{
		"update": apierrors.NewConflict(coordinationv1.Resource("leases"), "x", errors.New("changed")),
		"get":    apierrors.NewNotFound(coordinationv1.Resource("leases"), "x"),
	} {
		l, client := leased(coordinationv1.LeaseSpec{}, nil)
		client.PrependReactor(verb, "leases",
			func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, answer })
		_, _, err := l.Try(t.Context(), "alice-1", nil)
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "lease berth-alice-1 in namespace ns") {
			t.Errorf("%s: %v", verb, err)
		}
		if n := len(client.Actions()); n > 3*maxTries {
			t.Errorf("%s: %d requests", verb, n)
		}
	}
}

// Whatever a lease says, its holder can be named, and found again.
func FuzzLease(f *testing.F) {
	f.Add("alice@host+boot/12/34/abc", "provision", "5f0c", int64(0), int32(10))
	f.Add("a/b@c/d", "", "", int64(math.MaxInt64), int32(-1))
	f.Add("@/1/1/1", "x\ny", "\x1b", int64(math.MinInt64), int32(0))
	f.Add(strings.Repeat("é", 500), "p", "j", int64(1), int32(1))
	f.Fuzz(func(t *testing.T, identity, purpose, job string, renewed int64, seconds int32) {
		at := metav1.NewMicroTime(time.Unix(renewed%(1<<38), 0))
		l, _ := leased(coordinationv1.LeaseSpec{HolderIdentity: &identity, RenewTime: &at, LeaseDurationSeconds: &seconds},
			map[string]string{annotationPurpose: purpose, annotationJob: job})
		held, seen, err := l.Try(t.Context(), "alice-1", nil)
		if err != nil {
			t.Fatal(err)
		}
		if held != nil {
			held.Release(t.Context())
			return
		}
		if again := parseHolder(identity); again != seen.Holder {
			t.Errorf("%+v, %+v", again, seen.Holder)
		}
		if said := seen.Holder.Human() + seen.Purpose + seen.Job; len(said) > 1200 {
			t.Errorf("%d bytes", len(said))
		}
	})
}
