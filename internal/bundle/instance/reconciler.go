// Package instance brings bundles and instances to what their specs say: a bundle is
// unpacked, an instance has its bundle installed, and what it replaces is cleaned up
// once the new one is healthy. A terminal and a server do the same with it.
package instance

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/bundle/unpack"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch/cause"
)

// DefaultSystem is the namespace in which chunks, leases and releases live, unless
// another one is chosen.
const DefaultSystem = "berth-system"

// Reconciler works on the bundles and instances of berth's classes.
type Reconciler struct {
	// Own is the identity of berth itself: bundles, instances and their status, records, locks,
	// uploads and logins.
	Own *kube.Client
	// Installs is the identity with which everything is done that a bundle chooses: what its
	// templates look up, and its objects and hooks, which are applied, watched and removed. At
	// a terminal it is Own, the caller; see As.
	Installs *kube.Client
	// Guard knows whether instances may name a ServiceAccount.
	Guard *installer.Guard
	// Reserved is what bundles leave alone; of what somebody installs with rights of their own,
	// nothing.
	Reserved installer.Reserved
	// System is the namespace of everything that belongs to no bundle's content.
	System string
	// Fetcher fetches sources; which bundle it works on, and whom it reports to, is added.
	Fetcher source.Fetcher
	// BaseURL is where content is served; empty if nobody does.
	BaseURL string
	// Trust says which other programs that serve content are sent the caller's token.
	Trust server.Trust
	// Policy says what of pods that do not run is a failure, and when; cause.DefaultPolicy if it
	// is zero.
	Policy cause.Policy
	// Force takes over fields that other programs have set.
	Force bool
	Now   func() time.Time
	// RenderTime is how long the rendering of a chart may take; chart.DefaultTime if it is 0.
	RenderTime time.Duration

	// turns are those of a server's workers; nil if there are no others.
	turns *unpack.Turns
	// fetches are those of a server; nil if nobody waits for a worker.
	fetches *unpack.Fetches
	// account is as what Installs acts; nil at a terminal.
	account *v1alpha1.ServiceAccount
}

func (r Reconciler) objects() resource.Objects { return resource.Objects{Client: r.Own.Dynamic} }

// unpacker unpacks bundles, for the work on an object of this kind.
func (r Reconciler) unpacker(kind string) unpack.Unpacker {
	return unpack.Unpacker{
		Objects: r.objects(), Fetcher: r.Fetcher, System: r.System, BaseURL: r.BaseURL,
		Served: server.Client{Config: r.Own.Config, Trust: r.Trust}, Fetches: r.fetches, Kind: kind, Now: r.Now,
	}
}

// records are those of the releases.
func (r Reconciler) records() release.Records {
	return release.Records{
		Secrets: r.Own.CoreV1().Secrets(r.System), Namespace: r.System,
		Repair: func(secret string) string {
			return fmt.Sprintf("delete it, so that the record before it counts: kubectl delete secret "+
				"%s --namespace %s", secret, r.System)
		},
	}
}

// owner marks what an instance has installed: as Helm does, and as the other programs of
// this API.
func (r Reconciler) owner(name string) apply.Owner {
	owner := release.Owner(name, r.System)
	owner.Name = "bundle " + name
	owner.Tags = map[string]string{v1alpha1.LabelOwnerKind: v1alpha1.KindInstance, v1alpha1.LabelOwnerName: name}
	return owner
}

// namespaceOf is where the objects of an instance go that name none, unless their bundle
// says so.
func (r Reconciler) namespaceOf(c v1alpha1.Config) string { return cmp.Or(c.Namespace, r.System) }

// Applier applies the objects of an instance.
func (r Reconciler) Applier(name, namespace string) apply.Applier {
	return apply.Applier{
		Client: r.Installs.Dynamic, Discovery: &remembered{ServerResourcesInterface: r.Installs.Discovery()},
		Namespace: namespace, Owner: r.owner(name), Force: r.Force, StrictFields: true,
	}
}

// remembered asks the cluster for the kinds of each version of an API once. A version that the
// cluster does not have is asked for again, as it may have been defined meanwhile.
type remembered struct {
	discovery.ServerResourcesInterface

	mu    sync.Mutex
	lists map[string]*metav1.APIResourceList
}

// ServerResourcesForGroupVersion implements discovery.ServerResourcesInterface.
func (r *remembered) ServerResourcesForGroupVersion(version string) (*metav1.APIResourceList, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := r.lists[version]; list != nil {
		return list, nil
	}
	list, err := r.ServerResourcesInterface.ServerResourcesForGroupVersion(version)
	if err == nil {
		if r.lists == nil {
			r.lists = map[string]*metav1.APIResourceList{}
		}
		r.lists[version] = list
	}
	return list, err
}

// lockID is the lock of an instance. A workspace's ID cannot be the same: it has no
// such ending.
func lockID(name string) string { return name + ".bundle" }

// locker takes locks in the system namespace.
func (r Reconciler) locker(purpose string) lock.Locker {
	return lock.Locker{
		Leases: r.Own.CoordinationV1().Leases(r.System), Namespace: r.System,
		Self: lock.Self(), Purpose: purpose, Now: r.Now,
	}
}

// The purposes of locks, as others are told of them.
const (
	forPass      = "reconcile"
	forInstall   = "install"
	forUninstall = "uninstall"
)

// lock takes the lock of an instance, or names its holder. An uninstallation waits for
// the end of a pass, which a server may make at any time, and steps are told.
func (r Reconciler) lock(ctx context.Context, name, purpose string, steps *event.Steps) (*lock.Lock, error) {
	locker := r.locker(purpose)
	held, holder, err := locker.Try(ctx, lockID(name), nil)
	if err != nil || held != nil {
		return held, err
	}
	busy := func(by *lock.Observed) error {
		if by == holder && by.Overdue || purpose == forUninstall && by.Purpose == forPass {
			return nil
		}
		return fault.New(fault.Conflict, "%s is working on bundle %s (%s)", by.Holder.Human(), name, by.Purpose).
			WithHint("try again when that is done")
	}
	if err := busy(holder); err != nil {
		return nil, err
	}
	if purpose == forUninstall {
		steps.Note("waiting for %s (%s)", holder.Holder.Human(), holder.Purpose)
	}
	return locker.Wait(ctx, lockID(name), holder, busy)
}

// releaseTime is how long giving a lock back may take, also after an interruption.
const releaseTime = 2 * time.Second

func releaseLock(ctx context.Context, held *lock.Lock) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	held.Release(ctx)
}

// As is the reconciler that does what bundles choose as a ServiceAccount; r itself for nil.
func (r Reconciler) As(account *v1alpha1.ServiceAccount) (Reconciler, error) {
	if account == nil {
		return r, nil
	}
	acting, err := r.Own.ActingAs(types.NamespacedName{Namespace: account.Namespace, Name: account.Name})
	if err != nil {
		return r, err
	}
	r.Installs, r.account = acting, account
	return r, nil
}

// denied says of a permission that is missing whose it is, and how it is given.
func (r Reconciler) denied(err error) error {
	if r.account == nil || fault.CodeOf(err) != fault.PermissionDenied {
		return err
	}
	f := *fault.From(err)
	if strings.Contains(f.Message, " cannot impersonate ") {
		return f.WithHint("let the server act as it, by a Role with the verb impersonate: print it with `berth serve "+
			"manifests bundles --service-account %s`", r.account)
	}
	f.Message = "the ServiceAccount " + r.account.String() + " lacks a permission: " + f.Message
	return f.WithHint("what a bundle contains is read, written and watched as that ServiceAccount: bind it to a " +
		"role that allows it")
}
