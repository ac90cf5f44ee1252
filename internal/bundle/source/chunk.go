package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

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
		return fault.New(fault.Failed, "chunk %d of the upload, configmap/%s in namespace %s, has been altered: %s", index+
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
