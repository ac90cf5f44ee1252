// Package standalone deploys a workspace in a pod of its own: a Helm release of
// the embedded chart.
package standalone

import (
	"cmp"
	"context"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Target is a workspace with a pod of its own.
type Target struct {
	inventory.Reader
	ID    string
	Steps *deploy.Steps
}

// Lookup finds the pod and Helm's record. It has to be one that can be read: what it
// names is what a provisioning continues.
func (t Target) Lookup(ctx context.Context) (inventory.Found, error) {
	f, err := t.Reader.Lookup(ctx, t.ID)
	return f, cmp.Or(err, f.Unreadable)
}

// Decide says what a provisioning does about what it has found.
func (Target) Decide(f inventory.Found, _ deploy.Deployment) deploy.Plan {
	switch {
	case f.Pod == nil && f.Record == nil:
		return deploy.Create
	case f.Pod == nil:
		return deploy.Install
	}
	verdict := f.Reading.Verdict()
	if verdict != v1.VerdictTerminating && f.Reading.Status == v1.StatusStopping {
		return deploy.Replace // it has been asked to stop: as good as stopped
	}
	switch verdict {
	case v1.VerdictRunning:
		if f.Record == nil || f.Record.Info.Status != helm.StatusDeployed {
			return deploy.Resume
		}
		return deploy.Refuse
	case v1.VerdictTerminating:
		return deploy.Await
	case v1.VerdictFailed, v1.VerdictStopped:
		return deploy.Replace
	default:
		return deploy.Resume
	}
}

// Prepare renders the chart and checks the permissions for all of its objects.
func (t Target) Prepare(spec manifest.Spec, found inventory.Found, may deploy.Permissions) (deploy.Deployment,
	deploy.Plan, error,
) {
	chart, err := deploy.Render(spec)
	if err != nil {
		return deploy.Deployment{}, "", err
	}
	return t.prepare(spec, chart, found, may)
}

// LoadRecorded renders the chart with the values of before.
func (t Target) LoadRecorded(values map[string]any, spec manifest.Spec, found inventory.Found,
	may deploy.Permissions,
) (deploy.Deployment, deploy.Plan, error) {
	chart, err := again(found.Record, values, spec.JobID)
	if err != nil {
		return deploy.Deployment{}, "", err
	}
	d, plan, err := t.prepare(spec, chart, found, may)
	d.FromHelmRecord = true
	return d, plan, err
}

// again is what a workspace was made of. Where this chart did not make it, that of an earlier berth or k8shell's did:
// then what it was is in its record, as it is to be. The values of a former revision are not that record's.
func again(record *helm.Release, values map[string]any, job string) (*release.Rendered, error) {
	if record != nil && !release.IsOfThisChart(record) && isOf(record, values) {
		return release.Again(record, manifest.JobOf(release.Values(record)), kube.LabelValue(job), values)
	}
	if err := manifest.Renderable(values); err != nil {
		return nil, err
	}
	return release.Render(values)
}

// isOf says whether values are those of a record, but for the job.
func isOf(record *helm.Release, values map[string]any) bool {
	own, _ := manifest.OfJob(release.Values(record), "")
	asked, _ := manifest.OfJob(values, "")
	return equality.Semantic.DeepEqual(own, asked)
}

// Values are those of Helm's record.
func (t Target) Values(found inventory.Found) (map[string]any, bool) {
	if found.Record == nil {
		return nil, false
	}
	return release.Values(found.Record), true
}

// OnlyPodMissing compares Helm's record, which is complete, with what would be recorded now: nothing but
// the job may differ.
func (t Target) OnlyPodMissing(found inventory.Found, d deploy.Deployment) bool {
	old := found.Record
	if found.Pod != nil || old == nil || old.Info.Status != helm.StatusDeployed {
		return false
	}
	before, now := manifest.JobOf(release.Values(old)), manifest.JobOf(d.Chart.Values)
	return before != "" && strings.ReplaceAll(old.Manifest, before, now) == d.Chart.Manifest
}

// Former are those of the revision before Helm's newest record.
func (t Target) Former(ctx context.Context) (map[string]any, error) {
	all, err := t.Records().All(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if len(all) < 2 {
		return nil, fault.New(fault.Failed, "Helm has no record of what workspace %s was before", t.ID).
			WithHint("see `helm history %s --namespace %s`; it is only known of workspaces that were updated", t.ID,
				t.Client.Namespace)
	}
	return release.Values(all[1]), nil
}

func (t Target) prepare(spec manifest.Spec, chart *release.Rendered, found inventory.Found,
	may deploy.Permissions,
) (deploy.Deployment, deploy.Plan, error) {
	handled, _ := split(chart.Objects, isKnown)
	d := deploy.Deployment{Spec: spec, Chart: chart, Objects: handled, Shared: spec.Shared(), OwnPod: true}
	about := cause.About{
		Namespace: spec.Namespace, UserString: spec.User.String(), Blueprint: spec.Blueprint.Name,
		Origin: spec.Blueprint.Origin, Set: deploy.SetByFlags(spec.Blueprint.Origins),
	}
	if pod := kube.OfKind(chart.Objects, watch.KindPod); pod != nil {
		podSpec := deploy.PodSpec(pod.Object, "spec")
		about.Pod = pod.GetName()
		d.About = func(c *v1.Cause) cause.About { return about.Of(podSpec, c) }
	}
	plan := t.Decide(found, d)
	if plan.Writes() {
		t.handsOver(spec)
	}
	wanted := slices.Concat(d.Objects, apply.Unwrap(d.Shared), spec.Private())
	return d, plan, may.Check("provisioning "+t.ID, rbac.Provision, wanted)
}

// CheckUpdate has nothing to refuse.
func (t Target) CheckUpdate(_ inventory.Found, d deploy.Deployment) error {
	t.handsOver(d.Spec)
	return nil
}

// handsOver says what of the caller's the workspace gets to see.
func (t Target) handsOver(spec manifest.Spec) {
	for _, message := range spec.HandsOver() {
		t.Steps.Note("%s", message)
	}
}

// Drift compares the blueprint that the pod was made of with the one of now.
func (Target) Drift(found inventory.Found, d deploy.Deployment) []string {
	wanted := kube.OfKind(d.Objects, watch.KindPod)
	if found.Pod == nil || wanted == nil ||
		found.Pod.Annotations[kube.AnnotationManifestHash] == wanted.GetAnnotations()[kube.AnnotationManifestHash] {
		return nil
	}
	if found.Record == nil || release.IsK8shells(found.Record) {
		return []string{deploy.AnotherBlueprint}
	}
	return manifest.Drift(release.Values(found.Record), d.Chart.Values)
}

// Watch opens the watches of the pod, its events and its claims. The pod's watch
// goes on from what the lookup saw.
func (t Target) Watch(ctx context.Context, found inventory.Found, d deploy.Deployment) (*follow.Follower, error) {
	core, ns := t.Client.CoreV1(), t.Client.Namespace
	pods := follow.PodSource(follow.Client(core.Pods(ns)), ns, t.ID)
	pods.Version = found.Version
	if found.Pod != nil {
		pods.Listed = []runtime.Object{found.Pod}
	}
	sources := []follow.Source{pods, follow.EventSource(follow.Client(core.Events(ns)), ns, "Pod", t.ID)}
	if claims := d.Claims(); len(claims) > 0 {
		sources = append(sources,
			follow.ClaimSource(follow.Client(core.PersistentVolumeClaims(ns)), ns, claims...),
			follow.EventSource(follow.Client(core.Events(ns)), ns, "PersistentVolumeClaim", claims...))
	}
	f, err := follow.Open(ctx, watch.Subject{Namespace: ns, Name: t.ID}, sources...)
	if err == nil {
		f.ReadNodes(core.Nodes())
	}
	return f, err
}
