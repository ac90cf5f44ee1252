package pool

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/serve"
)

// Reporter keeps the status and the lease of a pool. Of several gateways one does, the holder of the lease; none does
// while another program, such as a real poollet, holds it.
type Reporter struct {
	Report
	Objects  dynamic.Interface
	Leases   coordination.LeasesGetter
	Identity string
	Log      *slog.Logger
	Now      func() time.Time

	checked bool // that the classes exist
	last    seen

	mu       sync.Mutex
	reports  bool      // as this process holds the lease and has written the status
	other    string    // who holds the lease instead
	failed   error     // the last pass
	since    time.Time // the passes fail
	failures float64
}

// Watch lets metrics say how the reporting goes. Sessions go on while it fails: readiness is not about it.
func (r *Reporter) Watch(metrics *serve.Metrics) {
	metrics.Gauge("berth_machine_pool_reported", "Whether this process reports the machine pool.",
		r.value(func() bool { return r.reports }))
	metrics.Gauge("berth_machine_pool_held_by_another", "Whether another process holds the lease of the machine pool.",
		r.value(func() bool { return r.other != "" }))
	metrics.Counter("berth_machine_pool_failures_total", "Reports of the machine pool that failed.", func() float64 {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.failures
	})
}

func (r *Reporter) value(is func() bool) func() float64 {
	return func() float64 {
		r.mu.Lock()
		defer r.mu.Unlock()
		if is() {
			return 1
		}
		return 0
	}
}

// requestTimeout is how long a pass may take, so that the lease is renewed in time.
const requestTimeout = 8 * time.Second

// Run reports until ctx ends, and then gives the lease back, so that another gateway can go on at once.
func (r *Reporter) Run(ctx context.Context) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		within, cancel := context.WithTimeout(ctx, requestTimeout)
		other, err := r.pass(within)
		cancel()
		if ctx.Err() == nil {
			r.note(other, err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	if err := r.release(within); err != nil {
		r.Log.Warn("the lease of the machine pool was not given back", slog.String("pool", r.Pool),
			slog.String("error", fault.Line(err.Error())))
	}
}

// note says what has changed.
func (r *Reporter) note(other string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reported, pool := r.reports, slog.String("pool", r.Pool)
	switch {
	case err != nil:
		if r.failed == nil {
			r.since = r.Now()
		}
		r.failures++
		r.Log.Error("the machine pool cannot be reported", pool, slog.String("error", fault.Line(err.Error())))
		r.failed = err
		if r.Now().Sub(r.since) >= leaseFor {
			r.reports = false
		}
		return
	case other != "":
		if r.other != other {
			r.Log.Warn("the machine pool is not reported: another process holds its lease", pool,
				slog.String("holder", fault.Line(other)), slog.String("lease", LeaseNamespace+"/"+r.Pool))
		}
	case !reported || r.failed != nil:
		r.Log.Info("the machine pool is reported", pool)
	}
	r.failed, r.other, r.reports = nil, other, other == ""
}

// pass renews the lease and then writes what differs of the status. It returns who holds the lease instead.
func (r *Reporter) pass(ctx context.Context) (other string, err error) {
	if err := r.check(ctx); err != nil {
		return "", err
	}
	if other, err = r.hold(ctx); err != nil || other != "" {
		return other, err
	}
	return "", r.write(ctx)
}

// check makes sure, once, that there are the classes, and names all that there are not.
func (r *Reporter) check(ctx context.Context) error {
	if r.checked {
		return nil
	}
	var missing []string
	for _, class := range r.Classes {
		_, err := r.Objects.Resource(served("machineclasses")).Get(ctx, class.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			missing = append(missing, class.Name)
		case err != nil:
			return kube.Fault(err, kube.Call{Verb: "get", Resource: named("machineclasses"), Name: class.Name})
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fault.New(fault.NotFound, "machine classes that do not exist: %s", strings.Join(missing, ", ")).
			WithHint("see `kubectl get machineclasses`")
	}
	r.checked = true
	return nil
}

// hold takes the lease or renews it, unless another process has it.
func (r *Reporter) hold(ctx context.Context) (other string, err error) {
	leases := r.Leases.Leases(LeaseNamespace)
	lease, err := leases.Get(ctx, r.Pool, metav1.GetOptions{})
	verb := "get"
	switch {
	case apierrors.IsNotFound(err):
		verb = "create"
		fresh := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: r.Pool, Namespace: LeaseNamespace}}
		_, err = leases.Create(ctx, held(fresh, r.Identity, r.Now()), metav1.CreateOptions{})
	case err != nil:
	case holder(lease) != r.Identity && !r.last.isFree(lease, r.Now()):
		return holder(lease), nil
	default:
		verb = "update"
		_, err = leases.Update(ctx, held(lease, r.Identity, r.Now()), metav1.UpdateOptions{})
	}
	if verb != "get" && (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)) {
		return r.winner(ctx)
	}
	return "", r.ofLease(verb, err)
}

// winner is who has written the lease at the same time; empty, with an error, if that cannot be told.
func (r *Reporter) winner(ctx context.Context) (string, error) {
	lease, err := r.Leases.Leases(LeaseNamespace).Get(ctx, r.Pool, metav1.GetOptions{})
	switch {
	case err != nil:
		return "", r.ofLease("get", err)
	case holder(lease) == "" || holder(lease) == r.Identity:
		return "", fault.New(fault.Conflict, "lease %s was changed by another program", r.Pool)
	}
	return holder(lease), nil
}

func (r *Reporter) ofLease(verb string, err error) error {
	return kube.Fault(err, kube.Call{
		Verb: verb, Resource: "leases.coordination.k8s.io", Namespace: LeaseNamespace, Name: r.Pool,
	})
}

// attempts are how often the status is written if others write it at the same time.
const attempts = 5

// write writes the status, if it differs from what it has to be.
func (r *Reporter) write(ctx context.Context) (err error) {
	pools := r.Objects.Resource(served("machinepools"))
	for range attempts {
		pool, err := pools.Get(ctx, r.Pool, metav1.GetOptions{})
		if err != nil {
			return kube.Fault(err, kube.Call{Verb: "get", Resource: named("machinepools"), Name: r.Pool})
		}
		status, differs := r.status(statusOf(pool), r.Now())
		if !differs {
			return nil
		}
		pool = pool.DeepCopy()
		pool.Object["status"] = status
		_, err = pools.UpdateStatus(ctx, pool, metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) {
			return kube.Fault(err, kube.Call{Verb: "update", Resource: named("machinepools/status"), Name: r.Pool})
		}
	}
	return fault.New(fault.Conflict, "machine pool %s is changed by another program all the time", r.Pool)
}

// release gives the lease back, if this process has it. The pool stays Ready for as long as the lease lasts.
func (r *Reporter) release(ctx context.Context) error {
	leases := r.Leases.Leases(LeaseNamespace)
	lease, err := leases.Get(ctx, r.Pool, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return r.ofLease("get", err)
	}
	if holder(lease) != r.Identity {
		return nil
	}
	lease = lease.DeepCopy()
	lease.Spec.HolderIdentity = nil
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return nil // another process has it
	}
	return r.ofLease("update", err)
}

func served(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: machine.Group, Version: machine.Version, Resource: plural}
}

func named(name string) string { return rbac.Access{Group: machine.Group, Resource: name}.Object() }
