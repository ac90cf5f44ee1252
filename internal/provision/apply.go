package provision

import (
	"cmp"
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
)

// apply carries the plan out, and begins the record of the job. If another run
// worked between the lookup and the lock, it decides once more.
func (s session) apply(ctx context.Context, dec decision, at progress) (progress, error) {
	turn := at.turn
	result, err := s.bringUp(ctx, dec.deployment, turn)
	if errors.Is(err, release.ErrExists) || errors.Is(err, deploy.ErrChanged) {
		again, lookErr := s.lookAgain(ctx, dec, progress{turn: turn, found: turn.Found, job: s.jobID})
		if lookErr != nil {
			return again, lookErr
		}
		turn = again.turn
		result, err = s.bringUp(ctx, dec.deployment, turn)
	}
	if errors.Is(err, deploy.ErrChanged) {
		err = changedMeanwhile(s.id)
	}
	if errors.Is(err, release.ErrExists) {
		err = s.Records().Taken(s.id) // it is not found under the lock either
	}
	if turn.Plan != deploy.Refuse { // then another run has done the work
		s.beginJob(ctx, dec.deployment, turn)
	}
	at = progress{
		turn: turn, found: turn.Found, result: result, reading: result.Reading, pod: result.Pod,
		job: jobOf(turn, s.jobID),
	}
	if at.pod == nil {
		at.pod = podOf(turn.Follower)
	}
	return at, err
}

// bringUp is all that may be done only while the lock is held: it ends with it.
func (s session) bringUp(ctx context.Context, d deploy.Deployment, turn deploy.Turn) (deploy.Result, error) {
	held, cancel := turn.Lock.Context(ctx)
	defer cancel()
	var result deploy.Result
	err := s.share(held, turn.Plan, d)
	if err == nil {
		result, err = s.target.BringUp(held, turn, d)
	}
	if err == nil || ctx.Err() != nil {
		return result, err
	}
	// After a pause of this process, its requests fail before the lock is found to be lost.
	if lost := turn.Lock.Confirm(ctx); held.Err() == nil && errors.Is(lost, lock.ErrTaken) {
		return result, lost
	}
	return result, cmp.Or(context.Cause(held), err)
}

// share creates what the workspaces of the namespace have in common, if the
// blueprint or the configuration asks for something of the kind.
func (s session) share(ctx context.Context, plan deploy.Plan, d deploy.Deployment) error {
	if len(d.Shared) == 0 || !plan.Writes() && plan != deploy.Heal {
		return nil
	}
	return s.steps.Do("share", func() (string, error) {
		there, err := s.sharer(apply.DryRunNone).Apply(ctx, d.Shared)
		if err == nil {
			deploy.WarnOfClaims(d, there, s.steps)
		}
		return english.Count(len(there), "object") + " of the namespace", err
	})
}

// sharer applies what belongs to no workspace: nothing says which of them was the
// first.
func (s session) sharer(dry apply.DryRun) apply.Applier {
	owner := apply.Owner{Name: "berth", Labels: map[string]string{"app.kubernetes.io/managed-by": "berth"}}
	applier := deploy.Applier(s.Reader, owner, nil, dry)
	applier.Shared = true
	return applier
}

// beginJob begins the record of this run's job. A pod that is starting belongs to
// the job that created it: the record of that goes on.
func (s session) beginJob(ctx context.Context, d deploy.Deployment, turn deploy.Turn) {
	id := jobOf(turn, s.jobID)
	s.Jobs.Begin(ctx, job.Start{
		ID: id, Resumed: id != s.jobID,
		WorkspaceName: s.id, UserString: s.user.String(), Username: s.user.User, Namespace: s.Client.Namespace,
		Blueprint: d.Spec.Blueprint.Name,
	})
}

// jobOf is the job that a workspace belongs to once the plan is carried out.
func jobOf(turn deploy.Turn, own string) string {
	if old := turn.Found.Job(); old != "" && !turn.Plan.Writes() {
		return old
	}
	return own
}

// holderJob is the job of the holder of the lock; empty if it is not known. They
// continue the job of a workspace that is starting, or begin the one that their
// lock names.
func holderJob(found inventory.Found, plan deploy.Plan, holder *lock.Observed) string {
	if plan.Writes() {
		return holder.Job
	}
	return found.Job()
}

// How often a new namespace is asked for its service account, and for how long.
const (
	accountPoll = 50 * time.Millisecond
	accountTime = 10 * time.Second
)

// createNamespace creates the namespace, which was found not to exist. No pod can
// be created before the controllers have given it its service account.
func (s session) createNamespace(ctx context.Context) error {
	name := s.Client.Namespace
	return s.steps.Do("create namespace", func() (string, error) {
		if _, err := s.applyNamespace(ctx, apply.DryRunNone); err != nil {
			return "", err
		}
		err := wait.PollUntilContextTimeout(ctx, accountPoll, accountTime, true,
			func(ctx context.Context) (bool, error) {
				_, err := s.Client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
				return !apierrors.IsNotFound(err), nil // without the permission the creation of the pod shows it
			})
		if wait.Interrupted(err) && ctx.Err() == nil {
			err = nil // so does it then
		}
		return name, err
	})
}

// applyNamespace creates the namespace; one that exists stays as it is.
func (s session) applyNamespace(ctx context.Context, dry apply.DryRun) (apply.Changes, error) {
	applier := s.sharer(dry)
	applier.Owner = apply.Owner{} // a namespace is not berth's
	return applier.Apply(ctx, apply.Objects([]*unstructured.Unstructured{kube.Named("Namespace", s.Client.Namespace)}))
}

// previewNamespace is not empty if the namespace would be created. That it cannot
// be read is an error only if it is to be created.
func (s session) previewNamespace(ctx context.Context, dry apply.DryRun) (apply.Changes, error) {
	name := s.Client.Namespace
	_, err := s.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err == nil || apierrors.IsForbidden(err) && !s.CreateNamespace {
		return nil, nil
	}
	if !apierrors.IsNotFound(err) || !s.CreateNamespace {
		return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "namespaces", Namespace: name, Name: name})
	}
	return s.applyNamespace(ctx, dry)
}

// checkCertificate checks that the cluster has certificates at all, if they are
// configured.
func (p *Provisioner) checkCertificate(ctx context.Context) error {
	if p.Certificate == nil {
		return nil
	}
	_, err := p.Client.Discovery().RESTClient().Get().AbsPath("/apis/" + manifest.CertManager).DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return fault.New(fault.InvalidArgument,
			"certificate is configured, but the cluster has no %s: cert-manager is not installed",
			manifest.CertManager).
			WithHint("install cert-manager, or remove certificate from the configuration")
	}
	return kube.Fault(err, kube.Call{Verb: "get", Resource: "/apis/" + manifest.CertManager})
}
