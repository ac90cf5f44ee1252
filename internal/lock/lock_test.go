package lock

import (
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"
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
