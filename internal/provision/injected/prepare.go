package injected

import (
	"context"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Prepare renders what goes into the workload, checks the permissions, and
// examines the workload if it is to be patched.
func (t Target) Prepare(spec manifest.Spec, found inventory.Found, may deploy.Permissions) (d deploy.Deployment,
	plan deploy.Plan, err error,
) {
	spec, leftOut := spec.Injectable()
	chart, err := deploy.Render(spec)
	if err != nil {
		return d, "", err
	}
	return t.prepare(spec, chart, leftOut, found, may)
}

// LoadRecorded renders what goes into the workload with the values of before.
func (t Target) LoadRecorded(values map[string]any, spec manifest.Spec, found inventory.Found,
	may deploy.Permissions,
) (deploy.Deployment, deploy.Plan, error) {
	chart, err := release.Render(values)
	if err != nil {
		return deploy.Deployment{}, "", err
	}
	return t.prepare(spec, chart, nil, found, may)
}

// Values are not to be had from the workload: the state record has those of an injected workspace.
func (Target) Values(inventory.Found) (map[string]any, bool) { return nil, false }

// OnlyPodMissing is false: what is there is found again under the lock.
func (t Target) OnlyPodMissing(inventory.Found, deploy.Deployment) bool { return false }

// Former is an error: the state record keeps the values of now alone.
func (t Target) Former(context.Context) (map[string]any, error) {
	return nil, fault.New(fault.Failed, "what workspace %s was before is not recorded: it is in %s", t.ID, t.Ref).
		WithHint("update it with the blueprint and the settings of before")
}

func (t Target) prepare(spec manifest.Spec, chart *release.Rendered, leftOut []string, found inventory.Found,
	may deploy.Permissions,
) (d deploy.Deployment, plan deploy.Plan, err error) {
	parts, err := injection.Make(t.ID, injection.Workload{Kind: t.Ref.Kind, Name: t.Ref.Name}, chart.Objects)
	if err != nil {
		return d, "", err
	}
	d = deploy.Deployment{Spec: spec, Chart: chart, Objects: parts.Objects, Shared: spec.SharedClaims(), Parts: parts}
	if err := may.Check("provisioning "+t.ID, rbac.Inject, d.Objects, t.resources()...); err != nil {
		return d, "", err
	}
	if found.Workload.Object == nil {
		return d, "", t.notThere()
	}
	template := found.Workload.Object
	if plan = t.Decide(found, d); plan.Writes() {
		if err := t.examine(found.Workload, parts, leftOut); err != nil {
			return d, plan, err
		}
		change, err := injection.Inject(found.Workload.Object, parts)
		if err != nil {
			return d, plan, err
		}
		template = change.After
	}
	d.About = t.about(spec, template)
	return d, plan, nil
}

// about knows the pod template, in which there are also containers that no
// blueprint is responsible for.
func (t Target) about(spec manifest.Spec, template map[string]any) deploy.About {
	podSpec := deploy.PodSpec(template, "spec", "template", "spec")
	return func(c *v1.Cause) cause.About {
		about := cause.About{Namespace: spec.Namespace, Controlled: true}
		if strings.HasPrefix(c.Container, t.ID+"-") {
			about.UserString, about.Blueprint, about.Origin = spec.User.String(), spec.Blueprint.Name,
				spec.Blueprint.Origin
			about.Set = deploy.SetByFlags(spec.Blueprint.Origins)
		}
		return about.Of(podSpec, c)
	}
}

// resources are those of the workload and of what it makes its pods with.
func (t Target) resources() []string {
	kind, resource := workload.Kind(t.Ref)
	if kind == watch.KindDeployment {
		return []string{resource, "replicasets"}
	}
	return []string{resource}
}

// CheckUpdate examines the workload.
func (t Target) CheckUpdate(found inventory.Found, d deploy.Deployment) error {
	return t.examine(found.Workload, d.Parts, nil)
}

// examine reports what is to be known about the workload before it is patched,
// and refuses what makes no sense.
func (t Target) examine(w *workload.Workload, parts injection.Parts, leftOut []string) error {
	for _, message := range leftOut {
		t.Steps.Note("%s", message)
	}
	for _, name := range parts.LeftOut {
		t.Steps.Note("%s is skipped: an injected workspace does not have it", name)
	}
	var refused []injection.Finding
	for _, f := range injection.Examine(w.Object, parts) {
		switch {
		case f.Severity == injection.Notice:
			t.Steps.Note("%s", f.Message)
		case f.Severity == injection.Warning, f.Severity == injection.Refusal && t.Force:
			t.Steps.Warn(f.Reason, w.Ref.String(), f.Message)
		default:
			refused = append(refused, f)
		}
	}
	return refusal(refused)
}

// refusal is one error about everything that prevents an injection; nil if
// nothing does.
func refusal(findings []injection.Finding) error {
	if len(findings) == 0 {
		return nil
	}
	err := fault.New(fault.Failed, "%s", findings[0].Message)
	var hints []string
	forced := true
	for _, f := range findings {
		if len(findings) > 1 {
			err.Problems = append(err.Problems, f.Message)
		}
		if f.Hint != "" {
			hints = append(hints, f.Hint)
		}
		forced = forced && f.Severity != injection.Impossible
	}
	if len(findings) > 1 {
		err.Message = "the workspace cannot be injected"
	}
	if forced {
		hints = append(hints, "or use --force")
	}
	return err.WithHint("%s", strings.Join(hints, "; "))
}

// Preview is what BringUp would create, and the workload as it would be patched.
func (t Target) Preview(ctx context.Context, plan deploy.Plan, found inventory.Found, d deploy.Deployment,
	dry apply.DryRun,
) (apply.Changes, error) {
	_, changes, err := t.inject(ctx, deploy.Turn{Found: found, Plan: plan}, d, dry)
	return changes, err
}

// PreviewRemove is what Remove would delete, and the workload as it would be
// patched.
func (t Target) PreviewRemove(ctx context.Context, found inventory.Found, how deploy.Removing) (apply.Changes, error) {
	taking := takingOut{change: t.eject, dry: how.DryRun}
	if how.KeepStorage {
		taking.keeps = deploy.IsClaim
	}
	out, err := t.takeOut(ctx, nil, found.Workload, taking)
	return append(out.patched, out.removed...), err
}
