// Package instance brings bundles and instances to what their specs say: a bundle is
// unpacked, an instance has its bundle installed, and what it replaces is cleaned up
// once the new one is healthy. A terminal and a server do the same with it.
package instance

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/bundle/observe"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/bundle/unpack"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/reconcile"
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

// define makes sure that the cluster has the kinds Bundle and BundleInstance, and the
// system namespace. Definitions that are there are left alone: they may be newer, or
// another program's.
func (r Reconciler) define(ctx context.Context) error {
	objects, err := resource.Definitions()
	if err != nil {
		return err
	}
	err = r.share(ctx, append(objects, kube.Named("Namespace", r.System))...)
	if fault.CodeOf(err) == fault.PermissionDenied {
		return fault.New(fault.PermissionDenied,
			"the cluster does not have the kinds Bundle and BundleInstance or the namespace %s, and you may "+
				"not create them: %w", r.System, err).
			WithHint("ask an administrator to run `%s`, and `kubectl create namespace %s`", resource.DefinitionsCommand,
				r.System)
	}
	return err
}

// CreateNamespace makes sure that a namespace exists. It belongs to no instance.
func (r Reconciler) CreateNamespace(ctx context.Context, name string) error {
	return r.share(ctx, kube.Named("Namespace", name))
}

// share creates those of the objects that do not exist, for everybody.
func (r Reconciler) share(ctx context.Context, objects ...*unstructured.Unstructured) error {
	a := r.Applier("", "")
	a.Owner, a.Shared = apply.Owner{Name: "berth"}, true
	_, err := a.Apply(ctx, apply.Objects(objects))
	return err
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

// identify has the pass do what the bundle chooses as the ServiceAccount that its instance
// names. Of an instance that somebody else has written, its author must have been asked for
// the permission; the caller of an installation is asked with each request.
func (p *pass) identify(ctx context.Context) error {
	account := p.in.Spec.ServiceAccount
	if account == nil {
		return nil
	}
	if !p.requested {
		if err := p.Guard.Check(ctx); err != nil {
			return err
		}
	}
	acting, err := p.As(account)
	if err == nil {
		p.Reconciler = acting
	}
	return err
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

// Backend is what a server works with: nobody sees its steps, since all that comes of
// them is on the objects.
type Backend struct {
	Reconciler
}

// NewBackend makes the backend of a reconciler.
func NewBackend(r Reconciler) Backend {
	r.turns, r.fetches = unpack.NewTurns(), unpack.NewFetches(r.Fetcher.Cache)
	return Backend{Reconciler: r}
}

// Bundle unpacks a bundle.
func (b Backend) Bundle(ctx context.Context, name string) error {
	steps := b.unseen()
	defer steps.Finish(v1.Result{})
	return b.unpacker(v1alpha1.KindBundle).Bundle(ctx, name, steps)
}

// Instance makes one pass over an instance, and asks for another one while its objects
// are not healthy. It gives what is to be watched from then on.
func (b Backend) Instance(ctx context.Context, name string) (observe.Set, error) {
	steps := b.unseen()
	defer steps.Finish(v1.Result{})
	out, err := b.Reconciler.Instance(ctx, name, UntilLookedAt, steps)
	if err == nil && out.Again > 0 {
		err = reconcile.Again(out.Again)
	}
	return out.Watch, err
}

func (b Backend) unseen() *event.Steps {
	return event.NewSteps(event.NewStream("", b.Now), b.Now)
}

// Open opens the archive of a bundle that is unpacked. It is nil if its digest is known.
func (b Backend) Open(ctx context.Context, bundle, known string) (archive io.ReadSeekCloser, digest string,
	modified time.Time, err error,
) {
	return b.unpacker("").Open(ctx, bundle, known)
}
