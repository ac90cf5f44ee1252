package lock

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
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
			return true, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name("alice-1"), ResourceVersion: version}},
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
		if _, err := b.Wait(t.Context(), "alice-1", seen, func(*Observed) error { return enough }); !errors.Is(err, enough) {
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
				a.Leases = &slow{LeaseInterface: a.Leases, hangs: func() bool { return int(asked.Add(1)) <= hangs.times }}
				held, _, err := a.Try(t.Context(), "alice-1", nil)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(Duration/2 + time.Millisecond)
				err = held.Confirm(t.Context())
				if code := fault.CodeOf(err); code != hangs.code || hangs.code != "" &&
					(!errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "what this one has written so far stands")) {
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
