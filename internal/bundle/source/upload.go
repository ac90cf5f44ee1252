package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Upload writes content into the system namespace, as chunks that belong to the bundle,
// a few at once. What is there already is verified, so that one that was killed can
// be repeated.
func (f Fetcher) Upload(ctx context.Context, c *content.Content) error {
	archive, err := c.Open()
	if err != nil {
		return err
	}
	defer archive.Close()
	total, err := archive.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	size := int64(cmp.Or(f.chunk, maxChunk))
	count := int((total + size - 1) / size)
	f.tell(v1.Progress{Message: "Uploading", Total: total})
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	var sent atomic.Int64
	for index := range count {
		data := make([]byte, min(size, total-int64(index)*size))
		if _, err := io.ReadFull(archive, data); err != nil {
			group.Go(func() error { return err })
			break
		}
		group.Go(func() error {
			chunk := newChunk(f.Bundle, f.Cluster.Namespace, c.Digest, index, count, data)
			err := f.Cluster.put(inner, chunk, f.Bundle, index, count)
			sent.Add(int64(len(data)))
			return err
		})
		f.tell(v1.Progress{Message: "Uploading", Done: sent.Load(), Total: total})
	}
	err = group.Wait()
	f.tell(v1.Progress{Message: "Uploading", Done: sent.Load(), Total: total})
	return err
}

// put creates a chunk, and verifies what the API server then has.
func (c *Cluster) put(ctx context.Context, chunk *corev1.ConfigMap, owner *v1alpha1.Bundle, index, count int) error {
	call := kube.Call{Verb: "create", Resource: "configmaps", Namespace: c.Namespace, Name: chunk.Name}
	found, err := c.Client.ConfigMaps(c.Namespace).
		Create(ctx, chunk, metav1.CreateOptions{FieldManager: kube.FieldManager})
	if apierrors.IsAlreadyExists(err) {
		call.Verb = "get"
		found, err = c.Client.ConfigMaps(c.Namespace).Get(ctx, chunk.Name, metav1.GetOptions{})
	}
	if err != nil {
		return kube.Fault(err, call)
	}
	if err := checkChunk(found, owner.UID, chunk.Annotations[v1alpha1.AnnotationContent], index, count); err != nil {
		return err
	}
	if found.Annotations[annotationDigest] != chunk.Annotations[annotationDigest] {
		return fault.New(fault.Conflict,
			"configmap/%s in namespace %s is a chunk of the same content, packed in another way", chunk.Name,
			c.Namespace).
			WithHint("delete bundle %s and install it again", owner.Name)
	}
	return nil
}

// upload reads the chunks of the bundle.
func (f Fetcher) upload(ctx context.Context, s v1alpha1.UploadSource) (*content.Content, *v1alpha1.UploadSource,
	error,
) {
	if f.Bundle == nil {
		return nil, nil, errors.New("source: an upload belongs to a bundle, but no bundle is named")
	}
	digest := s.Digest
	if digest == "" {
		digest = f.Bundle.Annotations[v1alpha1.AnnotationContent]
	}
	c, ok, err := f.cached(digest)
	if ok || err != nil {
		return c, &v1alpha1.UploadSource{Digest: digest}, err
	}
	if err := f.Verify.Unsupported("the upload of bundle " + f.Bundle.Name); err != nil {
		return nil, nil, err
	}
	first, err := f.Cluster.chunk(ctx, f.Bundle, digest, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	count, err := strconv.Atoi(first.Labels[LabelChunks])
	if most := int(f.Limits.Compressed/maxChunk) + 1; err != nil || count < 1 || count > most {
		return nil, nil, fault.New(fault.Failed,
			"configmap/%s in namespace %s has the label %s=%q, which is not a number of chunks from 1 to %d",
			first.Name, f.Cluster.Namespace, LabelChunks, first.Labels[LabelChunks], most).
			WithHint("delete the bundle and install it again from its files")
	}
	c, err = f.build(ctx, func(b *content.Builder) error { return f.join(ctx, b, first, count) })
	if err != nil {
		return nil, nil, within("the upload of bundle "+f.Bundle.Name, err)
	}
	if want := first.Annotations[v1alpha1.AnnotationContent]; c.Digest != want {
		_ = c.Close()
		return nil, nil, fault.New(fault.Failed, "the upload of bundle %s has been altered: its content is %s, not %s",
			f.Bundle.Name, c.Digest, want).
			WithHint("delete the bundle and install it again from its files")
	}
	return c, &v1alpha1.UploadSource{Digest: c.Digest}, nil
}

// join puts the chunks together.
func (f Fetcher) join(ctx context.Context, b *content.Builder, first *corev1.ConfigMap, count int) error {
	digest := first.Annotations[v1alpha1.AnnotationContent]
	group, inner := errgroup.WithContext(ctx)
	r, w := io.Pipe()
	group.Go(func() error {
		err := inOrder(inner, count, func(ctx context.Context, i int) (*corev1.ConfigMap, error) {
			if i == 0 {
				return first, nil
			}
			return f.Cluster.chunk(ctx, f.Bundle, digest, i, count)
		}, func(_ int, chunk *corev1.ConfigMap) error {
			_, err := w.Write(chunk.BinaryData[chunkKey])
			return err
		})
		w.CloseWithError(err)
		return nil // the reader has it
	})
	err := b.Tar(inner, f.Watch("Fetching the upload", r, 0))
	r.CloseWithError(io.ErrClosedPipe)
	_ = group.Wait()
	return err
}

// chunk gets one chunk, and verifies it.
func (c *Cluster) chunk(ctx context.Context, owner *v1alpha1.Bundle, digest string, index,
	count int,
) (*corev1.ConfigMap, error) {
	found, err := c.configMap(ctx, chunkName(owner, index))
	if fault.CodeOf(err) == fault.NotFound {
		of := ""
		if count > 0 {
			of = fmt.Sprintf(" of %d", count)
		}
		return nil, fault.New(fault.NotFound, "chunk %d%s of the upload, configmap/%s in namespace %s, is missing",
			index+1, of, chunkName(owner, index), c.Namespace).
			WithReason(ReasonIncomplete).WithHint("run the command that uploads it again: berth bundle install")
	}
	if err != nil {
		return nil, err
	}
	return found, checkChunk(found, owner.UID, digest, index, count)
}

// The marks of the ConfigMaps that an upload is kept in. Their data cannot be changed,
// the marks can, and are compared with what is expected of them.
const (
	LabelBundle      = "berth.dev/bundle"       // the name of the bundle
	LabelChunk       = "berth.dev/chunk"        // which it is, from 0
	LabelChunks      = "berth.dev/chunks"       // how many there are
	annotationDigest = "berth.dev/chunk-digest" // of the data of this one

	chunkKey = "content"
	// maxChunk is what fits into a ConfigMap, with its marks: it can have 1 MiB.
	maxChunk = 900 << 10 // bytes
)

// ReasonIncomplete is the fault reason of an upload of which a chunk is missing: it may
// still be on its way.
const ReasonIncomplete = "UPLOAD_INCOMPLETE"

// chunkName is that of a chunk. A bundle of the same name made later has others, as the
// old ones may be there for a while after it.
func chunkName(owner *v1alpha1.Bundle, index int) string {
	sum := sha256.Sum256([]byte(owner.UID))
	return fmt.Sprintf("%s-%s-%04d", owner.Name, hex.EncodeToString(sum[:5]), index)
}

func newChunk(owner *v1alpha1.Bundle, namespace, digest string, index, count int, data []byte) *corev1.ConfigMap {
	immutable := true
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: chunkName(owner, index), Namespace: namespace,
			Labels: map[string]string{
				LabelBundle: owner.Name, LabelChunk: strconv.Itoa(index),
				LabelChunks: strconv.Itoa(count),
			},
			Annotations:     map[string]string{v1alpha1.AnnotationContent: digest, annotationDigest: digestOf(data)},
			OwnerReferences: []metav1.OwnerReference{ownerReference(owner)},
		},
		Immutable:  &immutable,
		BinaryData: map[string][]byte{chunkKey: data},
	}
}

// ownerReference lets the cluster remove a chunk with its bundle.
func ownerReference(owner *v1alpha1.Bundle) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.KindBundle,
		Name: owner.Name, UID: owner.UID,
	}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// isUpload is true for what an upload is kept in.
func isUpload(c *corev1.ConfigMap) bool {
	_, chunk := c.Labels[LabelChunk]
	_, digest := c.Annotations[annotationDigest]
	return chunk || digest || slices.ContainsFunc(c.OwnerReferences, func(r metav1.OwnerReference) bool {
		return r.Kind == v1alpha1.KindBundle && r.APIVersion == v1alpha1.GroupVersion().String()
	})
}

// checkChunk finds out whether a chunk is as it was written. The number of all and the
// digest of the content are those of the first, if they are not known.
func checkChunk(found *corev1.ConfigMap, owner types.UID, digest string, index, count int) error {
	altered := func(what string) error {
		return fault.New(fault.Failed, "chunk %d of the upload, configmap/%s in namespace %s, has been altered: %s",
			index+
				1, found.Name, found.Namespace, what).
			WithHint("delete the bundle and install it again from its files")
	}
	data := found.BinaryData[chunkKey]
	switch {
	case found.Immutable == nil || !*found.Immutable:
		return altered("it is not immutable")
	case !slices.ContainsFunc(found.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == owner }):
		return altered("it does not belong to the bundle")
	case found.Labels[LabelChunk] != strconv.Itoa(index), count > 0 && found.Labels[LabelChunks] != strconv.Itoa(count):
		return altered("its labels are those of another chunk")
	case digest != "" && found.Annotations[v1alpha1.AnnotationContent] != digest:
		return altered("it belongs to other content")
	case len(data) == 0 || len(data) > maxChunk || digestOf(data) != found.Annotations[annotationDigest]:
		return altered("its data does not have its digest")
	}
	return nil
}
