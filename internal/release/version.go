package release

import (
	"strconv"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

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
	record.SetStatus(helm.StatusPendingUpgrade, preparingUpgrade)
}

// Unsettled is true for a revision before which others may still be marked as deployed.
func Unsettled(record *helm.Release) bool {
	return record.Info.Status == helm.StatusPendingUpgrade
}

// Succeed makes a record the next state of an older one, which it replaces.
func Succeed(record, old *helm.Release) {
	record.Version, record.Info.FirstDeployed = old.Version, old.Info.FirstDeployed
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
