package lock

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/berthdev/berth/internal/kubetest"
)

// provisioner locks as k8shell's does: it creates the Lease of 30 s, or takes over one that has expired by its clock in
// the version that it has read, and deletes it when it is done.
type provisioner struct {
	leases coordination.LeaseInterface
	now    func() time.Time
}

func (p provisioner) take(ctx context.Context, id string) (*coordinationv1.Lease, error) {
	now := metav1.NewMicroTime(p.now())
	holder, seconds := fmt.Sprintf("provisioner-%d", now.UnixNano()), int32(30)
	wanted := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "workspace-lease-" + id},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now,
		},
	}
	lease, err := p.leases.Create(ctx, wanted, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return lease, err
	}
	if lease, err = p.leases.Get(ctx, wanted.Name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil || p.now().Before(lease.Spec.RenewTime.Add(30*time.Second)) {
		return nil, err
	}
	lease.Spec = wanted.Spec
	if lease, err = p.leases.Update(ctx, lease, metav1.UpdateOptions{}); err != nil &&
		(apierrors.IsConflict(err) || apierrors.IsNotFound(err)) {
		return nil, nil
	}
	return lease, err
}

func (p provisioner) release(ctx context.Context, lease *coordinationv1.Lease) error {
	return p.leases.Delete(ctx, lease.Name, metav1.DeleteOptions{})
}

// clocked is a time that a test sets.
type clocked struct{ ahead atomic.Int64 }

func (c *clocked) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clocked) pass(d time.Duration) { c.ahead.Add(int64(d)) }

// besides are a locker of each kind in one namespace of an API server, and its leases.
func besides(t *testing.T) (Locker, provisioner, *clocked, *kubetest.Server) {
	t.Helper()
	server, clock := kubetest.Start(t, nil), &clocked{}
	client, _, _ := kubetest.Clients(t, server.URL)
	leases := client.CoordinationV1().Leases("team")
	l := Locker{Leases: leases, Namespace: "team", Self: Self(), Purpose: "provision", Now: clock.now, Beside: true}
	return l, provisioner{leases, clock.now}, clock, server
}

// Of many lockers of each kind, one holds the lock at a time.
func TestOneOfBothKindsHolds(t *testing.T) {
	l, p, _, server := besides(t)
	var holding, ours, theirs atomic.Int32
	alone := func(count *atomic.Int32) {
		if n := holding.Add(1); n != 1 {
			t.Errorf("%d hold the lock", n)
		}
		count.Add(1)
		time.Sleep(time.Millisecond) // others try meanwhile
		holding.Add(-1)
	}
	var group sync.WaitGroup
	for n := range 5 {
		own := l
		own.Self.Nonce = fmt.Sprint(n)
		group.Go(func() {
			var before *Observed
			for taken := 0; taken < 5 && !t.Failed(); {
				held, seen, err := own.Try(t.Context(), "alice-1", before)
				if err != nil && !strings.Contains(err.Error(), "cannot be taken") {
					t.Error(err)
				}
				if before = seen; held == nil {
					continue
				}
				alone(&ours)
				held.Release(t.Context())
				taken++
			}
		})
		group.Go(func() {
			for taken := 0; taken < 5 && !t.Failed(); {
				lease, err := p.take(t.Context(), "alice-1")
				if err != nil {
					t.Error(err)
				}
				if lease == nil {
					continue
				}
				alone(&theirs)
				if err := p.release(t.Context(), lease); err != nil {
					t.Error(err)
				}
				taken++
			}
		})
	}
	group.Wait()
	if left := server.Names("leases"); len(left) > 0 || ours.Load() != 25 || theirs.Load() != 25 {
		t.Errorf("it was taken %d and %d times, and %q is left", ours.Load(), theirs.Load(), left)
	}
}

// Berth finds the lock of k8shell, leaves it alone until it has expired, and says who has it.
func TestTheirLockIsRespected(t *testing.T) {
	l, p, clock, server := besides(t)
	if _, err := p.take(t.Context(), "alice-1"); err != nil {
		t.Fatal(err)
	}
	held, seen, err := l.Try(t.Context(), "alice-1", nil)
	if held != nil || err != nil || seen.Holder.Human() != "k8shell's provisioner" || seen.Overdue {
		t.Fatalf("%v, %+v, %v", held, seen, err)
	}
	if left := server.Names("leases"); len(left) != 1 || !strings.HasSuffix(left[0], "/workspace-lease-alice-1") {
		t.Errorf("berth's own lock was not given back: %q", left)
	}
	clock.pass(29 * time.Second)
	if held, again, err := l.Try(t.Context(), "alice-1", seen); held != nil || err != nil || again != seen {
		t.Fatalf("%v, %+v, %v", held, again, err)
	}
	clock.pass(2 * time.Second)
	held, _, err = l.Try(t.Context(), "alice-1", seen)
	if held == nil || err != nil {
		t.Fatalf("it has expired: %v", err)
	}
	if lease, err := p.take(t.Context(), "alice-1"); lease != nil || err != nil {
		t.Errorf("k8shell takes it from berth: %v", err)
	}
	held.Release(t.Context())
	if left := server.Names("leases"); len(left) != 0 {
		t.Errorf("%q is left", left)
	}
}

// One that was renewed long ago is abandoned whatever the clocks say, and one that nobody holds is free.
func TestTheirAbandonedLocks(t *testing.T) {
	for name, test := range map[string]struct {
		age    time.Duration
		holder string
		free   bool
	}{
		"a clock that is behind":   {4 * time.Minute, "provisioner-1", false},
		"abandoned":                {6 * time.Minute, "provisioner-1", true},
		"without a holder":         {0, "", true},
		"of a clock that is ahead": {-time.Hour, "provisioner-1", false},
	} {
		l, p, clock, _ := besides(t)
		lease, err := p.take(t.Context(), "alice-1")
		if err != nil {
			t.Fatal(err)
		}
		at := metav1.NewMicroTime(clock.now().Add(-test.age))
		lease.Spec.HolderIdentity, lease.Spec.RenewTime = &test.holder, &at
		if _, err := p.leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		held, seen, err := l.Try(t.Context(), "alice-1", nil)
		if (held != nil) != test.free || err != nil {
			t.Errorf("%s: %v, %+v, %v", name, held, seen, err)
		}
		if held != nil {
			held.Release(t.Context())
		}
	}
}

// The Lease that berth holds is k8shell's: its name, its holder, its time. It is renewed, and k8shell takes it when it
// was not; then berth has lost its own, too.
func TestTheirLockIsKept(t *testing.T) {
	l, p, clock, _ := besides(t)
	held, _, err := l.Try(t.Context(), "alice-1", nil)
	if err != nil || held == nil {
		t.Fatal(err)
	}
	lease, err := p.leases.Get(t.Context(), "workspace-lease-alice-1", metav1.GetOptions{})
	if err != nil || *lease.Spec.LeaseDurationSeconds != 30 || lease.Labels != nil ||
		!regexp.MustCompile(`^provisioner-[0-9]{19}$`).MatchString(*lease.Spec.HolderIdentity) {
		t.Errorf("%+v, %v", lease, err)
	}
	clock.pass(29 * time.Second)
	if err := held.renewOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.pass(29 * time.Second)
	if lease, err := p.take(t.Context(), "alice-1"); lease != nil || err != nil {
		t.Errorf("it is taken although it was renewed: %v", err)
	}
	clock.pass(2 * time.Second)
	if lease, err := p.take(t.Context(), "alice-1"); lease == nil || err != nil {
		t.Fatalf("it is not taken although it has expired: %v", err)
	}
	if err := held.Confirm(t.Context()); !errors.Is(err, ErrTaken) ||
		!strings.Contains(err.Error(), "k8shell's provisioner has taken it") {
		t.Errorf("berth goes on: %v", err)
	}
	held.Release(t.Context())
	if _, err := p.leases.Get(t.Context(), "workspace-lease-alice-1", metav1.GetOptions{}); err != nil {
		t.Errorf("berth has given back what is k8shell's: %v", err)
	}
}

// What a killed command of berth has left is free at once, as long as nobody else has taken it; it is swept with the
// workspace.
func TestTheirLockOfAKilledCommand(t *testing.T) {
	l, p, _, server := besides(t)
	dead := l
	dead.Self.Started = "1" // its process ID was used again
	killed, _, err := dead.Try(t.Context(), "alice-1", nil)
	if err != nil || killed == nil {
		t.Fatal(err)
	}
	killed.stop()
	killed.done.Wait()
	held, seen, err := l.Try(t.Context(), "alice-1", nil)
	if held == nil || err != nil {
		t.Fatalf("%+v, %v", seen, err)
	}
	held.stop()
	held.done.Wait()
	l.Sweep(t.Context(), "alice-1")
	if left := server.Names("leases"); len(left) != 2 {
		t.Errorf("what is held was swept: %q", left)
	}
	lease, err := p.leases.Get(t.Context(), "workspace-lease-alice-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lease.Spec.HolderIdentity = new("provisioner-7") // k8shell keeps what else is there
	if _, err := p.leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := holderOfTheirs(lease).Human(); got != "k8shell's provisioner" {
		t.Errorf("it is held by %s", got)
	}
}
