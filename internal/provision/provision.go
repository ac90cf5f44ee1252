// Package provision is the pipeline from a user string to a workspace that can
// be entered, and back: identify, look up, resolve, lock, install, follow;
// remove. What stands on the cluster is read by inventory, and what a workspace
// is made of is said by manifest; workload and injection know how one gets into a
// workload.
package provision

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Provisioner makes, finds and removes workspaces in one namespace.
type Provisioner struct {
	inventory.Reader
	Users        identity.Users
	Repositories identity.Repositories
	// Blueprints loads the platform blueprints; it is called once a provisioning.
	Blueprints       func(ctx context.Context) (*blueprint.Set, error)
	DefaultBlueprint string
	DefaultRegistry  string
	// Overrides are laid over the blueprint, for this run.
	Overrides []blueprint.Override
	// WaitForLock waits for whoever works on the workspace for another purpose,
	// instead of giving up.
	WaitForLock bool
	// OnFailure says what becomes of what was made if it comes to nothing. Empty
	// is to keep it.
	OnFailure OnFailure
	// NoWait ends a provisioning once everything is made.
	NoWait bool
	// CreateNamespace makes the namespace if it does not exist.
	CreateNamespace bool
	// Access reads the credentials that are configured; nil for none. It is called
	// once a provisioning, so that nothing else depends on them.
	Access func() (manifest.Access, error)
	// Certificate is nil if workspaces get none.
	Certificate *manifest.Certificate
	// Injection says where injection is allowed, and whether to insist on it.
	Injection InjectionRules
	// Jobs keeps the record of what a provisioning does; nil keeps none.
	Jobs *job.Recorder
}

// Supported says whether a form of user string can be provisioned. One that
// cannot is refused before anything is asked of the cluster.
func Supported(u userstring.UserString) error {
	if u.Form() == userstring.Named {
		return fault.New(fault.InvalidArgument, "%s names an existing workspace: it can be looked up, entered and deleted, not provisioned", u).
			WithHint("provision %s or %s~BLUEPRINT instead", u.User, u.User)
	}
	return nil
}

// Provision brings up the workspace that u means, or follows whoever is at it
// already, and tells what happens on stream. The outcome is how it stands at the
// end: also with an error, as far as it is known.
func (p *Provisioner) Provision(ctx context.Context, u userstring.UserString, stream *event.Stream) (Outcome, error) {
	if err := Supported(u); err != nil {
		return Outcome{}, err
	}
	if err := p.Injection.allow(u); err != nil {
		return Outcome{}, err
	}
	p = p.For(u)
	r := &run{Provisioner: p, user: u, id: u.ID(), namespace: p.Client.Namespace, steps: newSteps(stream, p.Now)}
	err := r.ended(ctx, r.provision(ctx))
	return r.outcome(ctx, err), err
}

func (r *run) provision(ctx context.Context) error {
	// The watches and the renewal of the lock end with the run.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := r.gather(ctx); err != nil {
		return err
	}
	plan := r.decide()
	if plan == refuse {
		return alreadyRunning(r.id, r.user)
	}
	held, plan, err := r.acquire(ctx, plan)
	if r.CreateNamespace && kube.IsNamespaceMissing(err) {
		if err := r.createNamespace(ctx); err != nil {
			return err
		}
		held, plan, err = r.acquire(ctx, plan)
	}
	if err != nil {
		return err
	}
	if held == nil {
		return nil // somebody else brought it up, or is about to
	}
	defer r.release(ctx, held)
	err = r.carryOut(ctx, held, plan)
	r.Jobs.End(r.steps.Seq(), r.ended(ctx, err))
	return r.settle(ctx, held, err)
}

// For is the provisioner for a user string: of a workload it says the namespace.
func (p *Provisioner) For(u userstring.UserString) *Provisioner {
	if u.Workload.IsZero() {
		return p
	}
	return p.in(u.Namespace)
}

// in is the same provisioner for another namespace.
func (p *Provisioner) in(namespace string) *Provisioner {
	if namespace == "" || namespace == p.Client.Namespace {
		return p
	}
	other := *p
	other.Reader = p.In(namespace)
	return &other
}

// run is one provisioning.
type run struct {
	*Provisioner
	user      userstring.UserString
	id        string
	namespace string
	steps     *steps

	identity  identity.User
	composed  Composed
	blueprint blueprint.Blueprint
	may       rbac.Review
	unread    error // what the caller may not even read
	found     inventory.Found
	access    manifest.Access
	rendered  *release.Rendered
	parts     *injection.Parts // of an injected workspace
	homes     []string         // storages that it does not have
	jobID     string
	follower  *follow.Follower
	latest    v1.Snapshot // the newest reading
	creation  creation    // what this run has made
	final     *Outcome    // where it was collected before the end
	blocker   string      // who holds the lock that is waited for
}

// The purposes of a lock.
const (
	provisioning = "provision"
	deleting     = "delete"
)

func (p *Provisioner) locker(purpose string) lock.Locker {
	return lock.Locker{
		Leases:    p.Client.CoordinationV1().Leases(p.Client.Namespace),
		Namespace: p.Client.Namespace, Self: lock.Self(), Purpose: purpose, Now: p.Now,
	}
}
