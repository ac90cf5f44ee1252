package release

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
)

// A record that does not fit into a Secret is kept in chunks: Secrets of their own
// beside a small record of Helm's. `helm list` and `helm history` show that record as any
// other; its manifest is a sentence that says where to go, which is no object, so that
// `helm uninstall`, `upgrade` and `rollback` fail before they delete or change anything.
// The chunks are written before the record that names them, and never changed: only the
// small record has the status. They are found by the digest of all of them.
const (
	maxRecord   = 920_000 // bytes of a record or a chunk in its Secret, which may have 1 MiB
	maxChunks   = 64
	chunkType   = "berth.dev/release-chunk"
	chunkKey    = "chunk"
	labelOf     = "berth.dev/release"  // on a chunk: its release
	labelChunks = "berth.dev/chunks"   // on a record, and in its chart: how many there are
	keyDigest   = "berth.dev/digest"   // in its chart
	labelKept   = "chunks-are-written" // in memory only, as labelVersion
)

// stub is the small record of a release that is kept in chunks.
func stub(release *helm.Release, chunks int, digest string) *helm.Release {
	small := *release
	metadata := chart.Metadata{APIVersion: chart.APIVersionV2, Name: release.Name, Version: "0.0.0"}
	if release.Chart != nil && release.Chart.Metadata != nil {
		whole := release.Chart.Metadata
		metadata.Name, metadata.Version, metadata.AppVersion = whole.Name, whole.Version, whole.AppVersion
	}
	metadata.Annotations = map[string]string{labelChunks: strconv.Itoa(chunks), keyDigest: digest}
	small.Chart, small.Config, small.Hooks = &chart.Chart{Metadata: &metadata}, nil, nil
	info := *release.Info
	info.Notes, small.Info = "", &info
	small.Manifest = "---\nThis release is too large for one of Helm's records. " +
		"Use `berth bundle` instead of helm to look at it and to remove it.\n"
	small.Labels = map[string]string{labelChunks: strconv.Itoa(chunks)}
	if guarded, is := release.Labels[LabelGuarded]; is {
		small.Labels[LabelGuarded] = guarded
	}
	return &small
}

// size is how much fits into a Secret.
func (r Records) size() int { return cmp.Or(r.most, maxRecord) }

// split is what is in the chunks of a release, and its digest: all but its status.
func (r Records) split(release *helm.Release) (chunks [][]byte, digest string, err error) {
	whole := *release
	whole.Info = nil
	if release.Info != nil && release.Info.Notes != "" {
		whole.Info = &helm.Info{Notes: release.Info.Notes} // which may be large as well
	}
	document, err := json.Marshal(&whole)
	if err != nil {
		return nil, "", fmt.Errorf("record of %s: %w", release.Name, err)
	}
	packed := compress(document)
	sum := sha256.Sum256(packed)
	for len(packed) > 0 {
		n := min(r.size(), len(packed))
		chunks, packed = append(chunks, packed[:n]), packed[n:]
	}
	if len(chunks) > maxChunks {
		return nil, "", fmt.Errorf("record of %s: larger than %d MiB", release.Name, maxChunks*r.size()>>20)
	}
	return chunks, hex.EncodeToString(sum[:]), nil
}

// chunkName is the name of a chunk: other content has another name.
func chunkName(release *helm.Release, digest string, i int) string {
	return fmt.Sprintf("berth.release.v1.%s.v%d.%s.%d", release.Name, release.Version, digest[:12], i)
}

// writeChunks writes the chunks of a record that does not fit into a Secret, and returns
// the record that stands for it.
func (r Records) writeChunks(ctx context.Context, release *helm.Release, dryRun []string) (*helm.Release, error) {
	chunks, digest, err := r.split(release)
	if err != nil {
		return nil, err
	}
	small := stub(release, len(chunks), digest)
	small.Labels[labelVersion] = release.Labels[labelVersion]
	if release.Labels[labelKept] == digest {
		return small, nil
	}
	for i, data := range chunks {
		chunk := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name:            chunkName(release, digest, i),
				Labels:          map[string]string{labelOf: release.Name, "version": strconv.Itoa(release.Version)},
				OwnerReferences: r.Owners,
			},
			Type: chunkType, Data: map[string][]byte{chunkKey: data}, Immutable: new(true),
		}
		_, err := r.Secrets.Create(ctx, chunk, metav1.CreateOptions{DryRun: dryRun})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, kube.Fault(err, r.call("create", chunk.Name))
		}
	}
	if release.Labels == nil {
		release.Labels = map[string]string{}
	}
	release.Labels[labelKept] = digest
	return small, nil
}

// IsInChunks says whether a record, as it was written or read, is kept in chunks: Helm
// lists such a one, and can neither read nor uninstall it.
func IsInChunks(release *helm.Release) bool { return release.Labels[labelKept] != "" }

// whole is the release of which a record has only the status; the record itself if it
// has everything.
func (r Records) whole(ctx context.Context, small *helm.Release) (*helm.Release, error) {
	if small.Chart == nil || small.Chart.Metadata == nil || small.Chart.Metadata.Annotations[labelChunks] == "" {
		return small, nil
	}
	notes := small.Chart.Metadata.Annotations
	count, err := strconv.Atoi(notes[labelChunks])
	digest := notes[keyDigest]
	if err != nil || count < 1 || count > maxChunks || len(digest) != 2*sha256.Size {
		return nil, errors.New("it does not say where its chunks are")
	}
	var packed bytes.Buffer
	for i := range count {
		name := chunkName(small, digest, i)
		chunk, err := r.Secrets.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil, fmt.Errorf("its chunk %s is missing", name)
		case err != nil:
			return nil, kube.Fault(err, r.call("get", name))
		}
		packed.Write(chunk.Data[chunkKey])
	}
	if sum := sha256.Sum256(packed.Bytes()); hex.EncodeToString(sum[:]) != digest {
		return nil, errors.New("its chunks are not as they were written")
	}
	document, err := decompress(packed.Bytes())
	if err != nil {
		return nil, err
	}
	release := &helm.Release{}
	if err := json.Unmarshal(document, release); err != nil {
		return nil, fmt.Errorf("not JSON of a release: %w", err)
	}
	if release.Info != nil {
		small.Info.Notes = release.Info.Notes
	}
	release.Info, release.Labels = small.Info, small.Labels
	if release.Labels == nil {
		release.Labels = map[string]string{}
	}
	release.Labels[labelKept] = digest
	return release, valid(release, small.Name, small.Version)
}

// dropChunks removes the chunks of a release of which there is no record any more; keep
// has the revisions that there are.
func (r Records) dropChunks(ctx context.Context, name string, keep map[string]bool) error {
	list, err := r.Secrets.List(ctx, metav1.ListOptions{LabelSelector: labelOf + "=" + name})
	if err != nil {
		return kube.Fault(err, r.call("list", ""))
	}
	for i := range list.Items {
		chunk := &list.Items[i]
		if chunk.Type != chunkType || keep[chunk.Labels["version"]] {
			continue
		}
		err := r.Secrets.Delete(ctx, chunk.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &chunk.UID},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return kube.Fault(err, r.call("delete", chunk.Name))
		}
	}
	return nil
}
