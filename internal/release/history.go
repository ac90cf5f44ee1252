package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
)

// Succeeded records that a revision is deployed: the revision first, so that a run that
// is killed in between leaves one that is; then those before it are superseded, and all
// but the newest of them removed, so that keep revisions are left.
func (r Records) Succeeded(ctx context.Context, revision *helm.Release, keep int, now time.Time) error {
	Deployed(revision, now)
	if err := r.Update(ctx, revision); err != nil {
		return err
	}
	return r.Supersede(ctx, revision, keep)
}

// Supersede marks the revisions before one that is deployed as superseded, and removes all
// but the newest of them, so that keep revisions are left.
func (r Records) Supersede(ctx context.Context, revision *helm.Release, keep int) error {
	if revision.Version == 1 {
		return nil
	}
	older, err := r.older(ctx, revision)
	if err != nil {
		return err
	}
	for _, secret := range older[max(0, len(older)-max(0, keep-1)):] {
		if err := r.supersede(ctx, &secret, revision.Name); err != nil {
			return err
		}
	}
	return r.prune(ctx, revision, older, func(i int) bool { return len(older)-i >= keep })
}

// Failed records that a revision could not be applied, and why. What failed or was cut off
// before, and is alike, is removed, since the new record says the same; and all but the
// newest, so that keep revisions are left. What is deployed is never removed.
func (r Records) Failed(ctx context.Context, revision *helm.Release, reason string, keep int,
	alike func(*helm.Release) bool,
) error {
	Failed(revision, reason)
	if err := r.Update(ctx, revision); err != nil || revision.Version == 1 {
		return err
	}
	older, err := r.older(ctx, revision)
	if err != nil {
		return err
	}
	deployed := func(s corev1.Secret) bool { return s.Labels["status"] == helm.StatusDeployed.String() }
	gone, left := map[int]bool{}, 1
	if slices.ContainsFunc(older, deployed) {
		left++
	}
	for i, secret := range slices.Backward(older) {
		if deployed(secret) {
			continue
		}
		if gone[i] = left >= keep || repeats(&secret, revision.Name, alike); !gone[i] {
			left++
		}
	}
	return r.prune(ctx, revision, older, func(i int) bool { return gone[i] })
}

// repeats says whether a record is of an attempt that is alike.
func repeats(secret *corev1.Secret, name string, alike func(*helm.Release) bool) bool {
	release, err := read(secret, name)
	if err != nil {
		return false
	}
	switch release.Info.Status {
	case helm.StatusFailed, helm.StatusPendingInstall, helm.StatusPendingUpgrade:
		return alike(release)
	}
	return false
}

// older are the records of the revisions before one, the oldest first.
func (r Records) older(ctx context.Context, revision *helm.Release) (older []corev1.Secret, err error) {
	err = r.each(ctx, selector(revision.Name), func(s *corev1.Secret) {
		if version(s) < revision.Version {
			older = append(older, *s)
		}
	})
	slices.SortFunc(older, byVersion)
	return older, err
}

// supersede marks a record that is deployed; any other, and one that cannot be read, is
// left as it is. Its chunks do not change.
func (r Records) supersede(ctx context.Context, secret *corev1.Secret, name string) error {
	if secret.Labels["status"] != helm.StatusDeployed.String() {
		return nil
	}
	release, err := read(secret, name)
	if err != nil {
		return nil //nolint:nilerr // the newest revision counts, and this one can still be removed
	}
	release.Info.Status = helm.StatusSuperseded
	release.Labels = extra(secret.Labels)
	changed, err := r.encode(release, modifiedAt)
	if err != nil {
		return err
	}
	changed.ResourceVersion = secret.ResourceVersion
	if _, err = r.Secrets.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return kube.Fault(err, r.call("update", secret.Name))
	}
	return nil
}

// extra are the labels of a record that are not Helm's.
func extra(all map[string]string) map[string]string {
	some := map[string]string{}
	for key, value := range all {
		if !slices.Contains([]string{"name", "owner", "status", "version", createdAt, modifiedAt}, key) {
			some[key] = value
		}
	}
	return some
}

// prune removes older records that are not needed any more, and what belongs to them.
func (r Records) prune(ctx context.Context, revision *helm.Release, older []corev1.Secret,
	gone func(i int) bool,
) error {
	left, chunked := map[string]bool{strconv.Itoa(revision.Version): true}, IsInChunks(revision)
	for i, secret := range older {
		chunked = chunked || secret.Labels[labelChunks] != ""
		if !gone(i) {
			left[secret.Labels["version"]] = true
			continue
		}
		err := r.Secrets.Delete(ctx, secret.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &secret.UID, ResourceVersion: &secret.ResourceVersion},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return kube.Fault(err, r.call("delete", secret.Name))
		}
	}
	if !chunked {
		return nil
	}
	return r.dropChunks(ctx, revision.Name, left)
}

// read reads a record without looking into its manifest.
func read(secret *corev1.Secret, name string) (*helm.Release, error) {
	if secret.Type != recordType {
		return nil, fmt.Errorf("its type is %s, not %s", secret.Type, recordType)
	}
	document, err := unpack(secret.Data[recordKey])
	if err != nil {
		return nil, err
	}
	release := &helm.Release{}
	if err := json.Unmarshal(document, release); err != nil {
		return nil, fmt.Errorf("not JSON of a release: %w", err)
	}
	switch {
	case release.Name != name || key(release) != secret.Name:
		return nil, fmt.Errorf("it is not about release %s", name)
	case release.Info == nil:
		return nil, errors.New("it has no status")
	}
	return release, nil
}
