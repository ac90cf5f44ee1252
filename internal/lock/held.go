package lock

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// renewEvery leaves room for two renewals to fail before the lock is lost.
const renewEvery = Duration / 3

// Lock is a lock that this process holds, until Release or until renewing it
// fails for as long as it lasts.
type Lock struct {
	locker Locker
	lost   chan struct{}
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu    sync.Mutex
	lease *coordinationv1.Lease
}

func (l Locker) hold(lease *coordinationv1.Lease) *Lock {
	ctx, stop := context.WithCancel(context.Background())
	held := &Lock{locker: l, lease: lease, lost: make(chan struct{}), stop: stop}
	held.done.Go(func() { held.renew(ctx) })
	return held
}

// Lost is closed when the lock could not be renewed in time, or somebody else
// took it.
func (h *Lock) Lost() <-chan struct{} { return h.lost }

// Release gives the lock back. A lock that was lost is left alone.
func (h *Lock) Release(ctx context.Context) {
	h.stop()
	h.done.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	// The preconditions keep somebody else's lock from being deleted. If it
	// fails the lease expires by itself.
	_ = h.locker.Leases.Delete(ctx, h.lease.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &h.lease.UID, ResourceVersion: &h.lease.ResourceVersion},
	})
}

func (h *Lock) renew(ctx context.Context) {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	renewed := h.locker.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := h.renewOnce(ctx)
		switch {
		case err == nil:
			renewed = h.locker.Now()
		case ctx.Err() != nil:
			return
		case apierrors.IsConflict(err), apierrors.IsNotFound(err), h.locker.Now().Sub(renewed) > Duration:
			close(h.lost)
			return
		}
	}
}

func (h *Lock) renewOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	next := h.lease.DeepCopy()
	now := metav1.NewMicroTime(h.locker.Now())
	next.Spec.RenewTime = &now
	lease, err := h.locker.Leases.Update(ctx, next, metav1.UpdateOptions{})
	if err == nil {
		h.lease = lease
	}
	return err
}
