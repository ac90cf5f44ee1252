package release

import (
	"strings"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
)

// refusal begins the description of a release of which the API server rejected an
// object; the object and the reason follow.
const refusal = "Refused by the cluster: "

// NewRecord is the record of a chart that is about to be applied.
func NewRecord(name, namespace string, rendered *Rendered, now time.Time) *helm.Release {
	at := helmtime.Time{Time: now}
	return &helm.Release{
		Name: name, Namespace: namespace, Version: 1, Labels: map[string]string{LabelGuarded: "pods"},
		Chart: rendered.Chart, Config: rendered.Values, Manifest: rendered.Manifest,
		Info: &helm.Info{
			FirstDeployed: at, LastDeployed: at,
			Status: helm.StatusPendingInstall, Description: "Initial install underway",
		},
	}
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
