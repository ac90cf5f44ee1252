package serve

import (
	"context"
	"log/slog"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// The times of a lease, Kubernetes' own: a leader that cannot renew it for ten seconds has five to stop before another
// one can take it.
const (
	leaseFor   = 15 * time.Second
	renewFor   = 10 * time.Second
	retryEvery = 2 * time.Second
)

// LeaseName is the lease of a class of objects: only its holder reconciles them.
func LeaseName(class string) string { return "berth-leader-" + class }

// Identity names a process as the holder of a lease: what a person recognizes, and what no other process has.
func Identity(host string) string { return host + "_" + string(uuid.NewUUID()) }

// Election is how one of several processes becomes the one that works.
type Election struct {
	Leases          coordination.LeasesGetter
	Namespace, Name string
	Identity        string
	Log             *slog.Logger
	// Leading is told when this process becomes the leader and when it no longer is; Other, who else is one. Both may
	// be nil.
	Leading func(leads bool)
	Other   func(identity string)
}

// Lead works as the leader whenever this process is one, until ctx ends. An error of the work is logged, and the lease
// given to another process.
func (e Election) Lead(ctx context.Context, work func(ctx context.Context) error) {
	for ctx.Err() == nil {
		if err := e.Hold(ctx, work); err != nil && ctx.Err() == nil {
			e.Log.Error("the work as the leader ended", slog.String("lease", e.Name),
				slog.String("error", fault.Line(err.Error())))
		}
		pause := time.NewTimer(retryEvery)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// Hold waits until this process is the leader and works as that: once, and then gives the lease back. The context of
// the work ends with ctx, and when the lease is lost. Hold returns after the work has, so that nothing goes on when
// another one leads. Its error is that of the work, or the cause of a ctx that ended before.
func (e Election) Hold(ctx context.Context, work func(ctx context.Context) error) error {
	// The lease is renewed until the work has ended, which client-go leaves to its caller, and only then given back.
	renewal, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	term := &term{ended: make(chan error, 1)}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: e.Name, LeaseDuration: leaseFor, RenewDeadline: renewFor, RetryPeriod: retryEvery, ReleaseOnCancel: true,
		Lock: lease{term: term, LeaseLock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name}, Client: e.Leases,
			LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity},
		}},
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				defer release()
				term.ended <- e.work(ctx, leading, work)
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(identity string) {
				if e.Other != nil && identity != "" && identity != e.Identity {
					e.Other(identity)
				}
			},
		},
	})
	if err != nil {
		return fault.New(fault.Internal, "lease %s: %w", e.Name, err)
	}
	stop := context.AfterFunc(ctx, func() {
		if !term.hasBegun() {
			release()
		}
	})
	defer stop()
	elector.Run(renewal)
	if term.hasBegun() {
		return <-term.ended
	}
	return context.Cause(ctx)
}

// ErrNotLeader is why the context of a leader's work ended that lost its lease.
var ErrNotLeader = fault.New(fault.Conflict, "another process leads, or the lease could not be renewed").
	WithHint("it goes on by itself; see the lease with `kubectl get leases`")

// work works until ctx ends or the lease is lost.
func (e Election) work(ctx, leading context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(leading, func() { cancel(ErrNotLeader) })()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e.Leading != nil {
		e.Leading(true)
		defer e.Leading(false)
	}
	return work(ctx)
}

// term is the time of one leader.
type term struct {
	mu    sync.Mutex
	begun bool
	ended chan error
}

func (t *term) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun = true
}

func (t *term) hasBegun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.begun
}

// lease notes that it was acquired before client-go begins the work, which it does on a goroutine of its own.
type lease struct {
	*resourcelock.LeaseLock
	term *term
}

// RecordEvent is called when the lease is acquired, and when it is given back.
func (l lease) RecordEvent(string) { l.term.begin() }

// longDead is the age at which a lease is believed to be abandoned by the clock alone. The clocks of two hosts may
// differ; by this much they do not.
const longDead = 5 * time.Minute

// Leader is who leads for a lease; empty if nobody does. Whether somebody who has not renewed it lately by this host's
// clock still does is found out by watching the lease for as long as it lasts.
func Leader(ctx context.Context, leases coordination.LeasesGetter, namespace, name string,
	now func() time.Time,
) (identity string, err error) {
	var first *coordinationv1.Lease
	begun := now()
	for {
		lease, err := leases.Leases(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		if err != nil {
			return "", kube.Fault(err, kube.Call{
				Verb: "get", Resource: "leases.coordination.k8s.io", Namespace: namespace,
				Name: name,
			})
		}
		if first == nil {
			first = lease
		}
		switch judge(first, lease, now(), now().Sub(begun)) {
		case leads:
			return fault.Line(*lease.Spec.HolderIdentity), nil
		case vacant:
			return "", nil
		}
		wait := time.NewTimer(retryEvery)
		select {
		case <-ctx.Done():
			wait.Stop()
			return "", context.Cause(ctx)
		case <-wait.C:
		}
	}
}

// verdict is what is known of a leader.
type verdict int

const (
	unsure verdict = iota
	leads
	vacant
)

// judge says whether the holder of a lease leads: as it was read first, as it is now, and how long after that.
func judge(first, lease *coordinationv1.Lease, now time.Time, watched time.Duration) verdict {
	holder, renewed := lease.Spec.HolderIdentity, lease.Spec.RenewTime
	if holder == nil || *holder == "" || renewed == nil {
		return vacant
	}
	lasts := leaseFor
	if seconds := lease.Spec.LeaseDurationSeconds; seconds != nil && *seconds > 0 && *seconds < 600 {
		lasts = time.Duration(*seconds) * time.Second
	}
	age := now.Sub(renewed.Time)
	switch {
	case age.Abs() < lasts, lease.ResourceVersion != first.ResourceVersion:
		return leads
	case age > longDead, watched > lasts:
		return vacant
	}
	return unsure
}
