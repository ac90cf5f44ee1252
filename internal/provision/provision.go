// Package provision is the pipeline from a user string to a workspace that can be
// entered, and back. A workspace gets a pod of its own (standalone) or goes into the
// pods of a workload (injected); deploy has what both share.
package provision

import (
	"context"
	"errors"

	"github.com/google/uuid"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/desired"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/limit"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/userstring"
)

// Provisioner creates, finds and removes workspaces in one namespace.
type Provisioner struct {
	inventory.Reader
	Users        identity.Users
	Repositories identity.Repositories
	// Blueprints loads the platform blueprints; it is called once a provisioning.
	Blueprints       func(ctx context.Context) (*catalog.Set, error)
	DefaultBlueprint string
	DefaultRegistry  string
	// Overrides are laid over the blueprint, for this run.
	Overrides []catalog.Override
	// WaitForLock waits while the workspace is locked for another purpose, such as
	// its deletion, instead of failing.
	WaitForLock bool
	// OnFailure says what becomes of what was created if the workspace fails.
	// Empty keeps it.
	OnFailure OnFailure
	// StrictScripts makes an init script that fails a failure of the workspace.
	StrictScripts bool
	// NoWait ends a provisioning once everything is created.
	NoWait bool
	// CreateNamespace creates the namespace if it does not exist.
	CreateNamespace bool
	// Access reads the credentials that are configured; nil for none. It is called
	// once a provisioning, so that nothing else depends on them.
	Access func() (manifest.Access, error)
	// Certificate is nil if workspaces get none.
	Certificate *manifest.Certificate
	// Injection says where injection is allowed, and whether to force it.
	Injection InjectionRules
	// Allowance is how many workspaces there may be; nil is no limit.
	Allowance *limit.Allowance
	// States is where it is kept the desired state of workspaces; zero for nowhere.
	States lifecycle.Place
	// Intent is what is brought about for somebody else; nil for the caller's own wish.
	Intent *desired.Intent
	// Jobs keeps the record of what a provisioning does; nil keeps none.
	Jobs *job.Recorder
}

// Provision brings up the workspace of a user string, or follows another run that
// does, and reports on the stream. The outcome is the state of the workspace at the
// end, as far as it is known; it is also returned with an error.
func (p *Provisioner) Provision(ctx context.Context, u userstring.UserString, stream *event.Stream) (Outcome, error) {
	if err := p.Injection.allow(u); err != nil {
		return Outcome{}, err
	}
	s := p.For(u).begin(u, stream)
	ctx, stop := context.WithCancel(ctx) // the watches end with the run
	defer stop()
	in, err := s.gather(ctx) // identity, lookup, blueprint
	if err != nil {
		return Outcome{}, interrupted(ctx, nil, ending{}, err)
	}
	if in.plan == deploy.Refuse {
		return s.alreadyUpToDate(ctx, in)
	}
	if in, err = s.restoreStopped(ctx, in); err != nil {
		return Outcome{}, interrupted(ctx, nil, ending{}, err)
	}
	return s.run(ctx, in)
}

// run brings up what is to be brought up, and follows it.
func (s provisioning) run(ctx context.Context, in inputs) (Outcome, error) {
	got, err := s.acquire(ctx, in)
	if err != nil || got.leave {
		deploy.Release(ctx, got.turn.Lock)
		return s.end(ctx, in, got.seen, err)
	}
	return s.execute(ctx, in, got.turn, got.seen)
}

// execute brings up what is to be brought up while it is this run's turn, and follows it.
func (s provisioning) execute(ctx context.Context, in inputs, turn deploy.Turn, seen ending) (Outcome, error) {
	var wanted lifecycle.Record
	var err error
	if turn.Plan != deploy.Create { // one that is created is recorded beside the rest
		if wanted, err = s.state().SetRunning(ctx, s.user, turn, in.deployment); err != nil {
			deploy.Release(ctx, turn.Lock)
			return s.end(ctx, in, seen, err)
		}
	}
	turn, end, err := s.deploy(ctx, in, turn)
	if err == nil {
		end.reading, err = s.follow(ctx, in.deployment, turn, end.result)
	}
	if errors.Is(err, lock.ErrTaken) {
		s.withdraw(ctx, in.deployment, turn, end.result)
	}
	s.state().ObserveStart(ctx, wanted, end.reading, in.deployment.OwnPod && end.pod == nil, err)
	err = s.scripts.Advise(interrupted(ctx, in.deployment.About, end, err), s.id, s.Client.Namespace)
	s.Jobs.End(s.steps.Seq(), err)
	if s.cleansUp(end, err) {
		defer deploy.Release(ctx, turn.Lock)
		return s.cleanUpOnFailure(ctx, in, turn, end, err)
	}
	deploy.Release(ctx, turn.Lock)
	return s.outcome(ctx, in, end, err), err
}

// For is the provisioner for a user string: a workload's says the namespace.
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

// State is the desired and the observed state of a workspace; without a namespace, of that of the client.
func (p *Provisioner) State(namespace, id string, in userstring.Workload) desired.State {
	p = p.in(namespace)
	return desired.State{Reader: p.Reader, Place: p.States, ID: id, Workload: in, Intent: p.Intent}
}

// provisioning is the tools of one provisioning, and what was asked for.
type provisioning struct {
	session
	user  userstring.UserString
	jobID string
	// update is what is to be updated; nil unless that is wanted.
	update *v1.Update
}

func (p *Provisioner) begin(u userstring.UserString, stream *event.Stream) provisioning {
	return provisioning{session: p.session(u.ID(), u.Workload, stream), user: u, jobID: uuid.NewString()}
}
