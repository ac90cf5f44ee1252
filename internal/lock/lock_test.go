package lock

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

func lockers(now func() time.Time) (a, b Locker) {
	client := fake.NewClientset()
	leases := client.CoordinationV1().Leases("ns")
	a = Locker{Leases: leases, Namespace: "ns", Self: Self(), Now: now}
	b = a
	b.Self.Nonce = "other"
	return a, b
}

func TestOneHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := lockers(time.Now)
		held, _, err := a.Try(t.Context(), "alice-1", nil)
		if err != nil || held == nil {
			t.Fatal("first try must succeed", err)
		}
		lock, seen, err := b.Try(t.Context(), "alice-1", nil)
		if lock != nil || err != nil || seen.Holder != a.Self {
			t.Fatalf("second try gives %v, %v, %v; want holder %v", lock, seen, err, a.Self)
		}
		held.Release(t.Context())
		lock, _, err = b.Try(t.Context(), "alice-1", seen)
		if lock == nil || err != nil {
			t.Fatal("a released lock is free", err)
		}
		lock.Release(t.Context())
	})
}

func TestHolderOfAnotherHostExpiresWithoutRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := lockers(time.Now)
		a.Self.Host = "elsewhere"
		// The other host's clock is an hour ahead: only what is seen here counts.
		a.Now = func() time.Time { return time.Now().Add(time.Hour) }
		held, _, _ := a.Try(t.Context(), "alice-1", nil)
		held.stop() // dies without a word
		held.done.Wait()
		_, seen, _ := b.Try(t.Context(), "alice-1", nil)
		time.Sleep(Duration - time.Second)
		if lock, _, _ := b.Try(t.Context(), "alice-1", seen); lock != nil {
			t.Fatal("taken before it expired")
		}
		time.Sleep(2 * time.Second)
		lock, _, err := b.Try(t.Context(), "alice-1", seen)
		if lock == nil {
			t.Fatal("not taken after it expired", err)
		}
		lock.Release(t.Context())
	})
}

func TestRenewedLockIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := lockers(time.Now)
		a.Self.Host = "elsewhere"
		held, _, _ := a.Try(t.Context(), "alice-1", nil)
		_, seen, _ := b.Try(t.Context(), "alice-1", nil)
		for range 10 {
			time.Sleep(Duration / 2)
			var lock *Lock
			if lock, seen, _ = b.Try(t.Context(), "alice-1", seen); lock != nil {
				t.Fatal("taken although it was renewed")
			}
		}
		held.Release(t.Context())
	})
}

// A renewal that is in flight when the lock is released is waited for: the lock
// that it renews is the one to delete.
func TestReleaseDuringRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		leases := client.CoordinationV1().Leases("ns")
		a := Locker{Leases: leases, Namespace: "ns", Self: Self(), Now: time.Now}
		version := "1"
		client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			time.Sleep(40 * time.Millisecond)
			version = "2"
			return true, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
					Name:            name("alice-1"),
					ResourceVersion: version,
				}},
				nil
		})
		deleted := ""
		client.PrependReactor("delete", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
			deleted = *action.(clienttesting.DeleteActionImpl).DeleteOptions.Preconditions.ResourceVersion
			return true, nil, nil
		})
		held, _, err := a.Try(t.Context(), "alice-1", nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(renewEvery + time.Millisecond)
		held.Release(t.Context())
		if deleted != version || version != "2" {
			t.Errorf("version %q was deleted, the lock has version %s", deleted, version)
		}
	})
}

// Waiting ends when the lock is free, or when there is no point in it.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := lockers(time.Now)
		held, _, _ := a.Try(t.Context(), "alice-1", nil)
		_, seen, _ := b.Try(t.Context(), "alice-1", nil)
		enough := errors.New("enough")
		if _, err := b.Wait(t.Context(), "alice-1", seen, func(*Observed) error { return enough }); !errors.Is(err,
			enough) {
			t.Errorf("it gives up with %v", err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if lock, err := b.Wait(short, "alice-1", seen, nil); lock != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while it is held: %v, %v", lock, err)
		}
		go func() {
			time.Sleep(time.Second)
			held.Release(t.Context())
		}()
		lock, err := b.Wait(t.Context(), "alice-1", seen, nil)
		if err != nil || lock == nil {
			t.Fatal("it is free", err)
		}
		lock.Release(t.Context())
	})
}

// What is done under a lock ends with it.
func TestContextOfALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := lockers(time.Now)
		held, _, _ := a.Try(t.Context(), "alice-1", nil)
		defer held.Release(t.Context())
		ctx, cancel := held.Context(t.Context())
		defer cancel()
		time.Sleep(time.Minute)
		if ctx.Err() != nil || held.Confirm(ctx) != nil {
			t.Fatal("it has ended while the lock is held")
		}
		if err := a.Leases.Delete(t.Context(), name("alice-1"), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), ErrTaken) || !errors.Is(held.Confirm(t.Context()), ErrTaken) {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
	})
}

// A server that takes its time is waited for; one that never answers is not to blame on
// another command.
func TestSlowServer(t *testing.T) {
	for name, hangs := range map[string]struct {
		times int
		code  fault.Code
	}{"for a moment": {2, ""}, "for ever": {1 << 30, fault.Unavailable}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, _ := lockers(time.Now)
				var asked atomic.Int32
				a.Leases = &slow{
					LeaseInterface: a.Leases,
					hangs:          func() bool { return int(asked.Add(1)) <= hangs.times },
				}
				held, _, err := a.Try(t.Context(), "alice-1", nil)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(Duration/2 + time.Millisecond)
				err = held.Confirm(t.Context())
				if code := fault.CodeOf(err); code != hangs.code || hangs.code != "" &&
					(!errors.Is(err, ErrTaken) || !strings.Contains(err.Error(),
						"what this one has written so far stands")) {
					t.Errorf("%v", err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				held.Release(ctx)
			})
		})
	}
}

// slow answers some updates never.
type slow struct {
	coordination.LeaseInterface
	hangs func() bool
}

func (s *slow) Update(ctx context.Context, lease *coordinationv1.Lease,
	o metav1.UpdateOptions,
) (*coordinationv1.Lease, error) {
	if s.hangs() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.LeaseInterface.Update(ctx, lease, o)
}

func TestDeadProcessOfThisHostIsTakenOverAtOnce(t *testing.T) {
	skiptest.OnWindows(t, "no process is known to be dead")
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	self := Self()
	started, alive := processStart(child.Process.Pid)
	if started == "" || !alive {
		t.Skip("this system does not tell when a process started")
	}
	dead := Holder{User: "x", Host: self.Host, PID: child.Process.Pid, Started: started}
	if dead.isDead(self) {
		t.Error("a living process is called dead")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if !dead.isDead(self) {
		t.Error("an ended process is not called dead")
	}
	reused := Holder{Host: self.Host, PID: os.Getpid(), Started: "1"}
	if !reused.isDead(self) {
		t.Error("a process ID that was used again passes for the old process")
	}
	a, b := lockers(time.Now)
	a.Self = dead
	if held, _, err := a.Try(t.Context(), "alice-1", nil); err == nil {
		held.stop() // it renews no more
		held.done.Wait()
	}
	if lock, _, err := b.Try(t.Context(), "alice-1", nil); lock == nil {
		t.Errorf("the lock of an ended process is not taken at the first try: %v", err)
	} else {
		lock.Release(t.Context())
	}
	elsewhere := dead
	elsewhere.Host = "elsewhere"
	if elsewhere.isDead(self) {
		t.Error("nothing is known about a process of another host")
	}
}

func TestHolderReadsBack(t *testing.T) {
	self := Self()
	if got := parseHolder(self.String()); got != self {
		t.Errorf("%q reads back as %+v", self, got)
	}
	if got := parseHolder("someone"); got.Human() != "someone" || got.isDead(self) {
		t.Errorf("a foreign identity is %+v", got)
	}
}

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
			"a time to come": {coordinationv1.LeaseSpec{HolderIdentity: new("bob"), RenewTime: &future}, false},
			"a huge holder":  {coordinationv1.LeaseSpec{HolderIdentity: &long, RenewTime: &now}, false},
			"a huge part": {
				coordinationv1.LeaseSpec{HolderIdentity: new(long + "@h/1/2/3"), RenewTime: &now},
				false,
			},
			"a process that is 0": {
				coordinationv1.LeaseSpec{HolderIdentity: new("bob@h/0/2/3"), RenewTime: &now},
				false,
			},
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
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(),
			"lease berth-alice-1 in namespace ns") {
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
		l, _ := leased(coordinationv1.LeaseSpec{
			HolderIdentity: &identity, RenewTime: &at,
			LeaseDurationSeconds: &seconds,
		},
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
