package release

import (
	"strconv"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthdev/berth/internal/apply"
)

// refusal begins the description of a release of which the API server rejected an
// object; the object and the reason follow.
const refusal = "Refused by the cluster: "

// NewRecord is the record of a chart that is about to be applied.
func NewRecord(name, namespace string, rendered *Rendered, now time.Time) *helm.Release {
	content := Content{Chart: rendered.Chart, Config: config(rendered.Values), Manifest: rendered.Manifest}
	record := NewRevision(name, namespace, content, nil, now)
	record.Labels = labels.Merge(releaseLabels(name, rendered.Values), map[string]string{LabelGuarded: "pods"})
	return record
}

// Content is what a revision of a release consists of.
type Content struct {
	Chart  *chart.Chart
	Config map[string]any
	// Manifest is of all objects, with their namespaces: see Manifest.
	Manifest string
	Hooks    []*helm.Hook
	// Notes are what a chart tells its user.
	Notes string
}

// NewRevision is the record of what is about to be applied: the first of a release, or
// the one after before.
func NewRevision(name, namespace string, content Content, before *helm.Release, now time.Time) *helm.Release {
	at := helmtime.Time{Time: now}
	revision := &helm.Release{
		Name: name, Namespace: namespace, Version: 1,
		Chart: content.Chart, Config: content.Config, Manifest: content.Manifest, Hooks: content.Hooks,
		Info: &helm.Info{
			FirstDeployed: at, LastDeployed: at, Status: helm.StatusPendingInstall,
			Description: "Initial install underway", Notes: content.Notes,
		},
	}
	if before != nil {
		revision.Version = before.Version + 1
		revision.Info.FirstDeployed = before.Info.FirstDeployed
		revision.Info.Status, revision.Info.Description = helm.StatusPendingUpgrade, preparingUpgrade
	}
	return revision
}

// preparingUpgrade is how Helm describes a revision that is not applied yet.
const preparingUpgrade = "Preparing upgrade"

// Plain is the chart of a release that is made of no chart: Helm shows its name and
// version.
func Plain(name, version string) *chart.Chart {
	return &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: name, Version: version}}
}

// Deployed marks a record: every object is created.
func Deployed(release *helm.Release, now time.Time) {
	release.Info.LastDeployed = helmtime.Time{Time: now}
	description := "Install complete"
	if release.Version > 1 {
		description = "Upgrade complete"
	}
	release.SetStatus(helm.StatusDeployed, description)
}

// Failed marks a revision: it could not be applied.
func Failed(release *helm.Release, reason string) {
	release.SetStatus(helm.StatusFailed, reason)
}

// Refused marks a record: the API server rejected an object, and gave a reason.
func Refused(release *helm.Release, object, reason string) {
	release.SetStatus(helm.StatusFailed, refusal+object+": "+reason)
}

// Refusal is what Refused has written; not ok if nothing was refused.
func Refusal(release *helm.Release) (object, reason string, ok bool) {
	if release.Info.Status != helm.StatusFailed {
		return "", "", false
	}
	text, ok := strings.CutPrefix(release.Info.Description, refusal)
	if !ok {
		return "", "", false
	}
	return strings.Cut(text, ": ")
}

// RefusedSince says whether the newer record reports a refusal by the cluster that
// the older one, which may be nil, does not report.
func RefusedSince(before, now *helm.Release) bool {
	if now == nil {
		return false
	}
	if _, _, is := Refusal(now); !is {
		return false
	}
	if before == nil {
		return true
	}
	_, _, was := Refusal(before)
	return !was || !before.Info.LastDeployed.Equal(now.Info.LastDeployed)
}

// labelVersion keeps, in a release in memory, the version of the Secret that it was
// read from or written to last: an update is one of this version. It is not written.
const labelVersion = "resourceVersion"

// labelLast keeps likewise the number of the last revision that there is, if it is one that does not
// count: the next revision comes after that.
const labelLast = "last-revision"

// labelCreated keeps likewise when the API server has created the Secret.
const labelCreated = "created"

// CreatedAt is when the API server has created the newest revision of a record that was read: unlike
// what the record says itself, no author can make it older. It is zero if that is not known.
func CreatedAt(release *helm.Release) time.Time {
	at, err := time.Parse(time.RFC3339, release.Labels[labelCreated])
	if err != nil {
		return time.Time{}
	}
	return at
}

func remember(release *helm.Release, secret *corev1.Secret) {
	if release.Labels == nil {
		release.Labels = map[string]string{}
	}
	release.Labels[labelVersion] = secret.ResourceVersion
	if at := secret.CreationTimestamp; !at.IsZero() {
		release.Labels[labelCreated] = at.UTC().Format(time.RFC3339)
	}
}

// Follow makes a record the next revision of an older one, which stays.
func Follow(record, old *helm.Release) {
	last, err := strconv.ParseInt(old.Labels[labelLast], 10, 32)
	if err != nil {
		last = 0
	}
	record.Version, record.Info.FirstDeployed = max(old.Version, int(last))+1, old.Info.FirstDeployed
	record.Labels = labels.Merge(keptLabels(old), record.Labels)
	record.SetStatus(helm.StatusPendingUpgrade, preparingUpgrade)
}

// Unsettled is true for a revision before which others may still be marked as deployed.
func Unsettled(record *helm.Release) bool {
	return record.Info.Status == helm.StatusPendingUpgrade
}

// Succeed makes a record the next state of an older one, which it replaces.
func Succeed(record, old *helm.Release) {
	record.Version, record.Info.FirstDeployed = old.Version, old.Info.FirstDeployed
	record.Labels = labels.Merge(keptLabels(old), record.Labels)
	if old.Version > 1 && old.Info.Status != helm.StatusDeployed { // those before it are not marked yet
		record.SetStatus(helm.StatusPendingUpgrade, preparingUpgrade)
	}
	if version := old.Labels[labelVersion]; version != "" {
		record.Labels = labels.Merge(record.Labels, map[string]string{labelVersion: version})
	}
}

// SameVersion says whether two records were read from, or written to, one version of
// their Secret.
func SameVersion(a, b *helm.Release) bool { return a.Labels[labelVersion] == b.Labels[labelVersion] }

// Owner marks the objects of a release as Helm does, which `helm upgrade` and the
// installation of another release check.
func Owner(name, namespace string) apply.Owner {
	return apply.Owner{
		Name:   "release " + name,
		Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		Annotations: map[string]string{
			"meta.helm.sh/release-name":      name,
			"meta.helm.sh/release-namespace": namespace,
		},
	}
}
