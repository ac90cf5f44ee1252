package source_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

func files(t *testing.T, c *content.Content) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(c.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(c.FS(), name)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// noise does not become smaller when it is compressed.
func noise(n int) string {
	text := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(text)
	return string(text)
}

func example() map[string]string {
	return map[string]string{"manifests/a.yaml": "kind: A\n", "noise": noise(25 << 10)}
}

func bundle(uid types.UID) *v1alpha1.Bundle {
	b := &v1alpha1.Bundle{}
	b.Name, b.UID = "app-1a2b3c", uid
	return b
}

func ofUpload(digest string) v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{Digest: digest}}
}

// uploaded gives a cluster that has an upload of three chunks, and a fetcher with an empty cache.
func uploaded(t *testing.T) (source.Fetcher, *fake.Clientset, string) {
	t.Helper()
	f, client := onCluster(t)
	f = f.WithChunks(10 << 10)
	f.Bundle = bundle("uid-1")
	c, err := f.Local(t.Context(), source.Stdin, bytes.NewReader(targz(t, example())))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := f.Upload(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	f.Cache = content.NewCache(t.TempDir(), content.DefaultCacheSize)
	return f, client, c.Digest
}

func chunks(t *testing.T, client *fake.Clientset) []corev1.ConfigMap {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps(system).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestUpload(t *testing.T) {
	f, client, digest := uploaded(t)
	found := chunks(t, client)
	if len(found) != 3 {
		t.Fatalf("%d chunks", len(found))
	}
	for _, chunk := range found {
		owner := chunk.OwnerReferences
		if n := len(chunk.BinaryData["content"]); n > 10<<10 || len(chunk.BinaryData) != 1 || len(chunk.Data) != 0 ||
			!*chunk.Immutable {
			t.Errorf("%s has %d bytes", chunk.Name, n)
		}
		if len(owner) != 1 || owner[0].Kind != "Bundle" || owner[0].APIVersion != "core.rukpak.io/v1alpha1" ||
			owner[0].Name != "app-1a2b3c" || owner[0].UID != "uid-1" {
			t.Errorf("%+v", owner)
		}
		if chunk.Labels[source.LabelBundle] != "app-1a2b3c" || chunk.Labels[source.LabelChunks] != "3" ||
			chunk.Annotations[v1alpha1.AnnotationContent] != digest {
			t.Errorf("%v, %v", chunk.Labels, chunk.Annotations)
		}
	}
	for _, of := range []string{"", digest} {
		f.Cache = content.NewCache(t.TempDir(), content.DefaultCacheSize)
		c, resolved, err := f.Fetch(t.Context(), ofUpload(of))
		if err != nil {
			t.Fatal(err)
		}
		if got := files(t, c); !maps.Equal(got, example()) || resolved.Upload.Digest != digest || c.Digest != digest {
			t.Errorf("%+v, %+v", c, resolved.Upload)
		}
		_ = c.Close()
		client.ClearActions()
		again, _, err := f.Fetch(t.Context(), resolved)
		if err != nil || len(client.Actions()) != 0 {
			t.Errorf("what is in the cache is asked for: %v, %v", err, client.Actions())
		}
		_ = again.Close()
	}
}

// A chunk has at most 900 KiB.
func TestUploadIsCutIntoChunks(t *testing.T) {
	f, client := onCluster(t)
	f.Bundle = bundle("uid-1")
	c, err := f.Local(t.Context(), source.Stdin, bytes.NewReader(targz(t, map[string]string{"noise": noise(1 << 20)})))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var told []v1.Progress
	f.Progress = func(p v1.Progress) { told = append(told, p) }
	if err := f.Upload(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if last := told[len(told)-1]; last.Done != last.Total || last.Total < 1<<20 || told[0].Done != 0 {
		t.Errorf("%+v", told)
	}
	found := chunks(t, client)
	if len(found) != 2 || len(found[0].BinaryData["content"]) != 900<<10 {
		t.Errorf("%d chunks", len(found))
	}
}

// An upload that was killed anywhere is repeated; a bundle of the same name that was
// made later has an upload of its own.
func TestUploadIsRepeated(t *testing.T) {
	f, client, digest := uploaded(t)
	found := chunks(t, client)
	for _, i := range []int{0, 2} {
		if err := client.CoreV1().ConfigMaps(system).Delete(t.Context(), found[i].Name,
			metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := f.Local(t.Context(), source.Stdin, bytes.NewReader(targz(t, example())))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := f.Upload(t.Context(), c); err != nil || len(chunks(t, client)) != 3 {
		t.Fatal(err)
	}
	f.Bundle = bundle("uid-2")
	if err := f.Upload(t.Context(), c); err != nil || len(chunks(t, client)) != 6 {
		t.Fatal(err)
	}
	f.Cache = content.NewCache(t.TempDir(), content.DefaultCacheSize)
	again, _, err := f.Fetch(t.Context(), ofUpload(digest))
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
	other, err := f.Local(t.Context(), source.Stdin, bytes.NewReader(targz(t, map[string]string{"a": "a"})))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := f.Upload(t.Context(), other); fault.CodeOf(err) != fault.Failed ||
		!strings.Contains(err.Error(), "has been altered") {
		t.Error(err)
	}
}

// Each chunk that is missing or has been altered is named.
func TestUploadIsVerified(t *testing.T) {
	for name, test := range map[string]struct {
		chunk int
		alter func(*corev1.ConfigMap)
		says  string
	}{
		"the first is missing": {0, nil, "chunk 1 of the upload, configmap/app-1a2b3c-"},
		"one is missing":       {1, nil, "chunk 2 of 3 of the upload, configmap/app-1a2b3c-"},
		"one bit": {
			2, func(c *corev1.ConfigMap) { c.BinaryData["content"][7] ^= 1 },
			"has been altered: its data does not have its digest",
		},
		"cut off": {
			2, func(c *corev1.ConfigMap) { c.BinaryData["content"] = nil },
			"has been altered: its data does not have its digest",
		},
		"not immutable": {2, func(c *corev1.ConfigMap) { c.Immutable = nil }, "has been altered: it is not immutable"},
		"of another bundle": {
			2, func(c *corev1.ConfigMap) { c.OwnerReferences[0].UID = "x" },
			"has been altered: it does not belong to the bundle",
		},
		"of other content": {
			2, func(c *corev1.ConfigMap) { c.Annotations[v1alpha1.AnnotationContent] = "x" },
			"has been altered: it belongs to other content",
		},
		"in another place": {
			2, func(c *corev1.ConfigMap) { c.Labels[source.LabelChunk] = "1" },
			"has been altered: its labels are those of another chunk",
		},
		"one of fewer": {
			0, func(c *corev1.ConfigMap) { c.Labels[source.LabelChunks] = "2" },
			"has been altered: its labels are those of another chunk",
		},
		"one of none": {
			0, func(c *corev1.ConfigMap) { c.Labels[source.LabelChunks] = "0" },
			"not a number of chunks from 1 to",
		},
		"one of very many": {
			0, func(c *corev1.ConfigMap) { c.Labels[source.LabelChunks] = "1000000" },
			"not a number of chunks from 1 to",
		},
		"one bit and the digest": {2, func(c *corev1.ConfigMap) {
			c.BinaryData["content"][7] ^= 1
			sum := sha256.Sum256(c.BinaryData["content"])
			c.Annotations["berth.dev/chunk-digest"] = "sha256:" + hex.EncodeToString(sum[:])
		}, "the upload of bundle app-1a2b3c: the archive is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			f, client, digest := uploaded(t)
			maps := client.CoreV1().ConfigMaps(system)
			chunk := &chunks(t, client)[test.chunk]
			if err := maps.Delete(t.Context(), chunk.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if test.alter != nil {
				test.alter(chunk)
				if _, err := maps.Create(t.Context(), chunk, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err := f.Fetch(t.Context(), ofUpload(digest))
			if err == nil || !strings.Contains(err.Error(), test.says) || fault.From(err).Hint == "" {
				t.Errorf("%v, want %s", err, test.says)
			}
			if incomplete := fault.ReasonOf(err) == source.ReasonIncomplete; incomplete != (test.alter == nil) {
				t.Errorf("reason %q", fault.ReasonOf(err))
			}
		})
	}
}

// What the API server answers gets through, and nothing is left hanging.
func TestUploadFails(t *testing.T) {
	f, client, digest := uploaded(t)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x",
		errors.New(`User "bob" cannot get resource`))
	gets := 0
	var mu sync.Mutex
	client.PrependReactor("get", "configmaps", func(k8stesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		gets++
		return gets > 1, nil, forbidden
	})
	if _, _, err := f.Fetch(t.Context(), ofUpload(digest)); fault.CodeOf(err) != fault.PermissionDenied {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Fetch(ctx, ofUpload(digest)); err == nil {
		t.Error("a fetch goes on after its end")
	}
	f.Bundle = nil
	if _, _, err := f.Fetch(t.Context(), ofUpload(digest)); err == nil {
		t.Error("an upload of no bundle")
	}
}
