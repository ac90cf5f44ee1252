package provision

import (
	"context"
	"slices"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/desired"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/limit"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

// Updating is how an update is planned.
type Updating struct {
	// Create provisions a workspace that does not exist, instead of failing.
	Create bool
	// Rollback brings a workspace back to what it was before the last update; its blueprint
	// is not read.
	Rollback bool
	// DryRun is how the objects of a preview are made, which is all that is wanted then.
	DryRun apply.DryRun
}

// Update is what an update would do: all of it was checked, and nothing was written.
type Update struct {
	v1.Update
	// Objects are what would be changed.
	Objects apply.Changes

	run     session
	decided decision
	grown   []growing
}

// Differs says whether there is anything to change in a workspace that exists.
func (u *Update) Differs() bool { return u.decided.plan == deploy.Update }

// Idle is true if the workspace runs and is what it is to be.
func (u *Update) Idle() bool { return u.decided.plan == deploy.Refuse }

// PlanUpdate finds out in what a workspace differs from what its blueprint and the overrides
// say now, and checks whatever can be checked before anything is replaced: permissions, the
// claims, which stay, and, by a dry run of the API server, quota and admission.
func (p *Provisioner) PlanUpdate(ctx context.Context, u userstring.UserString, how Updating,
	stream *event.Stream,
) (*Update, error) {
	if err := p.mayInject(u); err != nil {
		return nil, err
	}
	s := p.For(u).begin(u, stream)
	s.update = &v1.Update{Changes: []string{}}
	decide := s.fromBlueprint
	if how.Rollback {
		decide = s.fromFormer
	}
	dec, err := decide(ctx)
	if err != nil {
		return nil, err
	}
	exists, err := s.state().Exists(ctx, dec.found)
	if err != nil {
		return nil, err
	}
	plan := &Update{Update: *s.update, run: s, decided: dec}
	switch {
	case !exists && how.Create:
		if how.DryRun != apply.DryRunNone {
			plan.Objects, err = s.preview(ctx, dec, how.DryRun)
		}
		return plan, err
	case !exists:
		return nil, fault.New(fault.NotFound, "workspace %s not found in namespace %s", s.id, s.Client.Namespace).
			WithHint("bring it up: `%s`", fault.Command("berth", "provision", u.String()))
	}
	if err := plan.compare(ctx, how); err != nil {
		return nil, err
	}
	return plan, nil
}

// compare finds out what differs, and checks it.
func (u *Update) compare(ctx context.Context, how Updating) error {
	s := u.run
	before, err := s.valuesOf(ctx, u.decided.found)
	if err != nil && !desired.IsNotRecorded(err) {
		return err
	}
	u.Changes = differences(s.target, u.decided, before)
	grown, again, err := s.growth(ctx, u.decided.deployment, before)
	if err != nil {
		return err
	}
	u.grown, u.Changes = grown, withStorages(u.Changes, again)
	for _, g := range u.grown {
		u.Storage = append(u.Storage, g.GrownStorage)
	}
	if len(u.Changes) == 0 && len(u.grown) == 0 {
		if how.DryRun != apply.DryRunNone && !u.Idle() {
			u.Objects, err = s.preview(ctx, u.decided, how.DryRun)
		}
		return err
	}
	if !u.decided.plan.Writes() {
		if err := s.target.CheckUpdate(u.decided.found, u.decided.deployment); err != nil {
			return err
		}
	}
	u.decided.plan = deploy.Update
	return u.check(ctx, how)
}

// check asks the API server what it would say.
func (u *Update) check(ctx context.Context, how Updating) (err error) {
	if how.DryRun == apply.DryRunClient {
		u.Objects, err = u.run.previewObjects(ctx, u.decided, apply.DryRunClient)
		return err
	}
	if err := u.run.grow(ctx, nil, u.grown, apply.DryRunServer); err != nil {
		return err
	}
	u.Objects, err = u.run.previewObjects(ctx, u.decided, apply.DryRunServer)
	if room, known := limit.FitsAfterReplacing(err, u.decided.found.Pod); known && room {
		u.Objects, err = u.run.previewObjects(ctx, u.decided, apply.DryRunClient)
	}
	return err
}

// differences are the settings in which a workspace is not what it would be made of now.
func differences(t target, dec decision, before map[string]any) []string {
	if before != nil {
		if fields := manifest.Drift(before, dec.deployment.Chart.Values); len(fields) > 0 {
			return fields
		}
	}
	return append([]string{}, t.Drift(dec.found, dec.deployment)...)
}

// withStorages adds the storages that are made again to the settings that differ, unless one of
// these says so.
func withStorages(changes, again []string) []string {
	for _, storage := range again {
		field := "storages." + storage
		if !slices.ContainsFunc(changes, func(change string) bool { return strings.HasPrefix(change, field) }) {
			changes = append(changes, field+".claimSpec")
		}
	}
	return changes
}

// Update carries out what was planned. A workspace that is what it is to be stays as it is
// if it runs, and is brought up if it does not.
func (p *Provisioner) Update(ctx context.Context, u *Update, stream *event.Stream) (Outcome, error) {
	s := u.run.on(p.For(u.run.user), stream)
	s.update = new(u.Update)
	ctx, stop := context.WithCancel(ctx) // the watches end with the run
	defer stop()
	if u.Idle() {
		o, err := s.alreadyUpToDate(ctx, u.decided)
		if fault.CodeOf(err) != fault.AlreadyExists {
			return o, err
		}
		o.Workspace.Update = s.update
		return o, nil
	}
	if !u.Differs() {
		return s.run(ctx, u.decided)
	}
	at, err := s.acquireUpdate(ctx, u.decided)
	if err == nil {
		err = s.expandClaims(ctx, at.turn, u.grown)
	}
	if err != nil {
		return s.end(ctx, u.decided, at, err)
	}
	o, err := s.execute(ctx, u.decided, at)
	return o, s.addRollbackHint(o, err)
}

// addRollbackHint adds to the failure of a pod that was updated how to get the former one again.
func (s session) addRollbackHint(o Outcome, err error) error {
	if code := fault.CodeOf(err); code != fault.Failed && code != fault.DeadlineExceeded || o.Workspace == nil ||
		o.Workspace.Update.Revision < 2 {
		return err
	}
	why := *fault.From(err)
	back := "go back to what it was with `" + fault.Command("berth", "update", s.user.String(), "--rollback") +
		"`: Helm's record of that stands, and any storage it has"
	why.Hint = strings.TrimPrefix(strings.TrimSuffix(why.Hint, ".")+"; or "+back, "; or ")
	return &why
}

// acquireUpdate takes the lock, makes sure that the workspace is still what was compared, and
// opens the watches. Where a provisioning would follow another run, this one waits for the
// lock or fails: what was asked for is not what the other one does.
func (s session) acquireUpdate(ctx context.Context, dec decision) (at progress, err error) {
	at = progress{found: dec.found, reading: dec.found.Reading, pod: dec.found.Pod, job: dec.found.Job()}
	at.turn.Plan = deploy.Update
	if at.turn.Lock, err = s.lockFor(ctx, deploy.ForProvisioning); err != nil {
		return at, err
	}
	if at.turn.Found, err = s.lookup(ctx); err != nil {
		return at, err
	}
	if !sameWorkspace(dec.found, at.turn.Found) {
		return at, changedMeanwhile(s.id)
	}
	at.turn.Follower, err = s.target.Watch(ctx, at.turn.Found, dec.deployment)
	return at, err
}

func changedMeanwhile(id string) error {
	return fault.New(fault.Conflict, "workspace %s was changed by another command meanwhile", id).
		WithHint("nothing was changed; run the command again")
}

// sameWorkspace says whether nobody has replaced or changed the workspace between two looks.
func sameWorkspace(a, b inventory.Found) bool {
	if (a.Record == nil) != (b.Record == nil) || (a.Pod == nil) != (b.Pod == nil) {
		return false
	}
	if a.Record != nil && (a.Record.Version != b.Record.Version || !release.SameVersion(a.Record, b.Record)) {
		return false
	}
	if a.Pod != nil && a.Pod.UID != b.Pod.UID {
		return false
	}
	return injectedAs(a) == injectedAs(b) && len(a.Objects) == len(b.Objects)
}

// injectedAs is what an injected workspace was made of, and by which job.
func injectedAs(f inventory.Found) [2]string {
	if !f.Workload.Injected() {
		return [2]string{}
	}
	return [2]string{f.Workload.Record.Hash, f.Job()}
}

// expandClaims lets the claims grow while the lock is held.
func (s session) expandClaims(ctx context.Context, turn deploy.Turn, all []growing) error {
	if len(all) == 0 {
		return nil
	}
	held, cancel := turn.Lock.Context(ctx)
	defer cancel()
	return s.steps.Do("grow", func() (string, error) {
		return all[0].Name, s.grow(held, turn.Lock, all, apply.DryRunNone)
	})
}
