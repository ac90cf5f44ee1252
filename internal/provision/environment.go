package provision

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/desired"
	"github.com/berthdev/berth/internal/provision/injected"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/limit"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/provision/standalone"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Environment is what there is, whatever a command wants: a process has one.
type Environment struct {
	inventory.Reader
	Users        identity.Users
	Repositories identity.Repositories
	// Blueprints loads the platform blueprints; it is called once a provisioning.
	Blueprints       func(ctx context.Context) (*catalog.Set, error)
	DefaultBlueprint string
	DefaultRegistry  string
	// Variables are those of the environment that expressions of platform blueprints may read.
	Variables map[string]string
	// Remote is where repositories are cloned from, with {owner} and {name} in it; empty for the default.
	Remote string
	// Access reads the credentials that are configured; nil for none. It is called
	// once a provisioning, so that nothing else depends on them.
	Access func() (manifest.Access, error)
	// Certificate is nil if workspaces get none.
	Certificate *manifest.Certificate
	// ControlNamespace is that of k8shell's proxy and API server, which may come to agents; empty for none.
	ControlNamespace string
	// APIServer is the address of k8shell's API server, which agents report to; empty if they do not.
	APIServer string
	// InjectNamespaces are those where injection is allowed; * is all of them. Nil leaves
	// it to the API server; empty allows it nowhere.
	InjectNamespaces []string
	// Allowance is how many workspaces there may be; nil is no limit.
	Allowance *limit.Allowance
	// States is where the desired state of workspaces is recorded; zero for nowhere.
	States lifecycle.Place
}

// Options are what one command wants.
type Options struct {
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
	// ForceInjection injects even if it makes little sense.
	ForceInjection bool
	// Intent is what is brought about for somebody else; nil for the caller's own wish.
	Intent *desired.Intent
	// Jobs keeps the record of what a provisioning does; nil keeps none.
	Jobs *job.Recorder
}

// Provisioner creates, finds and removes workspaces in one namespace, as the options say.
type Provisioner struct {
	Environment
	Options
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

// State is the desired and the observed state of a workspace, by default of the client's namespace.
func (p *Provisioner) State(namespace, id string, in userstring.Workload) desired.State {
	p = p.in(namespace)
	return desired.State{Reader: p.Reader, Place: p.States, ID: id, Workload: in, Intent: p.Intent}
}

// Supported says whether a form of user string can be provisioned. One that
// cannot is refused before the cluster is asked anything.
func Supported(u userstring.UserString) error {
	if u.Form() == userstring.Named {
		return fault.New(fault.InvalidArgument,
			"%s names an existing workspace: it can be looked up, entered and deleted, not provisioned", u).
			WithHint("provision %s or %s~BLUEPRINT instead", u.User, u.User)
	}
	return nil
}

// mayInject says whether a workspace may be where its user string wants it.
func (e Environment) mayInject(u userstring.UserString) error {
	allowed := e.InjectNamespaces
	if u.Workload.IsZero() || allowed == nil || slices.Contains(allowed, "*") || slices.Contains(allowed, u.Namespace) {
		return nil
	}
	where := "nowhere"
	if len(allowed) > 0 {
		where = "only in " + strings.Join(allowed, ", ")
	}
	return fault.New(fault.PermissionDenied,
		"injection into namespace %s is not allowed: the configuration allows it %s", u.Namespace, where).
		WithHint("add the namespace to injectNamespaces in the configuration")
}

// session is the tools of one command on one workspace, and what was asked for.
type session struct {
	*Provisioner
	id      string
	in      userstring.Workload // zero for a pod of its own
	target  target
	steps   *deploy.Steps
	scripts *deploy.Scripts

	// Of a run that brings a workspace up:
	user   userstring.UserString
	jobID  string
	update *v1.Update // what is to be updated; nil unless that is wanted
}

// begin begins a run that brings a workspace up.
func (p *Provisioner) begin(u userstring.UserString, stream *event.Stream) session {
	s := p.session(u.ID(), u.Workload, stream)
	s.user, s.jobID = u, uuid.NewString()
	return s
}

// session chooses the target: without a workload it is a pod of its own.
func (p *Provisioner) session(id string, in userstring.Workload, stream *event.Stream) session {
	s := session{Provisioner: p, id: id, in: in, steps: deploy.NewSteps(stream, p.Now)}
	s.scripts = deploy.NewScripts(s.steps, p.Client, p.StrictScripts)
	if in.IsZero() {
		s.target = standalone.Target{Reader: p.Reader, ID: id, Steps: s.steps}
	} else {
		s.target = injected.Target{Reader: p.Reader, ID: id, Ref: in, Force: p.ForceInjection, Steps: s.steps}
	}
	return s
}

// on is the same run, which reports on another stream.
func (s session) on(p *Provisioner, stream *event.Stream) session {
	next := p.session(s.id, s.in, stream)
	next.user, next.jobID, next.update = s.user, s.jobID, s.update
	return next
}

// state is the desired and the observed state of the workspace.
func (s session) state() desired.State { return s.State("", s.id, s.in) }

// target is where a workspace is deployed: in a pod of its own or in the pods of
// a workload. The pipeline does not ask which of them it is; what differs is in the
// values that both fill in, such as the Record and the Pod of what was found, which
// an injected workspace does not have, and Deployment.OwnPod.
type target interface {
	// Lookup reads what is there under the workspace's name.
	Lookup(context.Context) (inventory.Found, error)
	// Prepare renders the workspace, decides what to do about what was found, and
	// makes every check that writes nothing.
	Prepare(manifest.Spec, inventory.Found, deploy.Permissions) (deploy.Deployment, deploy.Plan, error)
	// LoadRecorded is Prepare for a workspace that was brought up before, by the chart's values
	// of then.
	LoadRecorded(values map[string]any, spec manifest.Spec, found inventory.Found,
		may deploy.Permissions) (deploy.Deployment, deploy.Plan, error)
	// Values are the chart's values that the workspace was made of, if what was found has them: a
	// workload has not.
	Values(inventory.Found) (values map[string]any, ok bool)
	// Former are the values that it was made of before the last update.
	Former(context.Context) (map[string]any, error)
	// Decide says what to do about what was found. Before Prepare the deployment
	// is empty.
	Decide(inventory.Found, deploy.Deployment) deploy.Plan
	// OnlyPodMissing says whether only the pod is missing of what is to be brought up: all the rest
	// was applied as a whole.
	OnlyPodMissing(inventory.Found, deploy.Deployment) bool
	// Drift says in what a workspace that runs or starts is not what would be brought
	// up now.
	Drift(inventory.Found, deploy.Deployment) []string
	// CheckUpdate makes the checks that Prepare makes of what it would write, where that
	// was not the plan.
	CheckUpdate(inventory.Found, deploy.Deployment) error
	// Watch opens the watches.
	Watch(context.Context, inventory.Found, deploy.Deployment) (*follow.Follower, error)
	// BringUp carries the plan out, while it is this run's turn.
	BringUp(context.Context, deploy.Turn, deploy.Deployment) (deploy.Result, error)
	// Complete records that everything is created. Only the release of the lock
	// waits for that.
	Complete(context.Context, deploy.Deployment, deploy.Result) error
	// Still returns an error if what is followed is not the workspace any more.
	Still(watch.State) error
	// Undo removes what BringUp has created, and says what it did.
	Undo(context.Context, deploy.Turn, deploy.Deployment, deploy.Result) (string, error)
	// Withdraw removes what BringUp has created before it lost the lock, as far as
	// nobody else has taken it up.
	Withdraw(context.Context, deploy.Turn, deploy.Deployment, deploy.Result) error
	// Preview is what BringUp would change.
	Preview(ctx context.Context, plan deploy.Plan, found inventory.Found, d deploy.Deployment,
		dry apply.DryRun) (apply.Changes, error)

	// MayRemove checks the permissions for Remove.
	MayRemove(context.Context, inventory.Found, deploy.Permissions) error
	// Remove removes the workspace, while it is this run's turn. What was found before
	// the lock was taken only saves requests.
	Remove(ctx context.Context, turn deploy.Turn, how deploy.Removing) (deploy.Removal, error)
	// MayStop checks the permissions for Stop.
	MayStop(deploy.Permissions) error
	// Stop ends the pods, or takes the workspace out of them, and keeps everything else.
	Stop(ctx context.Context, turn deploy.Turn, wait bool) (deploy.Removal, error)
	// AwaitGone follows what Remove or Stop has left terminating until it is gone.
	AwaitGone(context.Context, deploy.Removal) (deploy.Left, error)
	// PreviewRemove is what Remove would change.
	PreviewRemove(ctx context.Context, found inventory.Found, how deploy.Removing) (apply.Changes, error)
}
