package instance

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// withCache is a reconciler that has the content of some texts in its cache, and no
// cluster; digests are those of the contents.
func withCache(t *testing.T, texts ...string) (r Reconciler, digests []string) {
	t.Helper()
	r = Reconciler{
		Fetcher: source.Fetcher{Cache: content.NewCache(t.TempDir(), 1<<20), Limits: content.DefaultLimits()},
		Now:     time.Now,
	}
	for _, text := range texts {
		c := sealed(t, r, "a", text)
		digests = append(digests, c.Digest)
		_ = c.Close()
	}
	return r, digests
}

// sealed is content of one file, which the cache keeps.
func sealed(t *testing.T, r Reconciler, name, text string) *content.Content {
	t.Helper()
	b, err := content.NewBuilder(r.Fetcher.Cache, r.Fetcher.Limits)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	if err := b.Add(name, int64(len(text)), strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	c, err := b.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newSteps(t *testing.T) *event.Steps {
	steps := event.NewSteps(event.NewStream("", time.Now), time.Now)
	t.Cleanup(func() { steps.Finish(v1.Result{}) })
	return steps
}

// The content of a bundle is what it was when it was unpacked, whatever its annotation has
// been changed to.
func TestContentIsThatOfTheStatus(t *testing.T) {
	r, digests := withCache(t, "installed", "of another bundle")
	b := &v1alpha1.Bundle{}
	b.Name, b.Status.Digest = "shop-1", digests[0]
	for annotation, says := range map[string]string{"": "", digests[0]: "", digests[1]: "has been changed to " +
		digests[1], "sha256:0": "has been changed to sha256:0"} {
		b.Annotations = map[string]string{v1alpha1.AnnotationContent: annotation}
		c, err := r.Content(t.Context(), b, newSteps(t))
		if says != "" {
			if fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), says) ||
				!strings.Contains(err.Error(), "bundle shop-1") || !strings.Contains(fault.From(err).Hint, digests[0]) {
				t.Errorf("%q: %v", annotation, err)
			}
			continue
		}
		if err != nil || c.Digest != digests[0] {
			t.Fatalf("%q: %v %v", annotation, c, err)
		}
		_ = c.Close()
	}
	// Of a status without a digest it is derived again: an annotation alone chooses nothing.
	b.Status.Digest, b.Annotations[v1alpha1.AnnotationContent] = "", digests[1]
	b.Spec.Source = v1alpha1.Source{
		Type: v1alpha1.SourceHTTP,
		HTTP: &v1alpha1.HTTPSource{URL: "https://a.invalid/a.tgz", Digest: digests[0]},
	}
	if c, err := r.Content(t.Context(), b, newSteps(t)); fault.CodeOf(err) != fault.Failed ||
		!strings.Contains(err.Error(), "its content was "+digests[1]) {
		t.Errorf("%v, %v", c, err)
	}
}

// Two workers may unpack a bundle at once, such as that of the bundle and that of its
// instance. What the one has unpacked is written also if the other, which has seen half of
// an upload, has written that meanwhile.
func TestUnpackedByOneOfTwo(t *testing.T) {
	unpacked := func(b *v1alpha1.Bundle, digest string) {
		b.Status = v1alpha1.BundleStatus{
			Phase: v1alpha1.PhaseUnpacked, ObservedGeneration: 1, Digest: digest,
			ResolvedSource: &v1alpha1.Source{Type: v1alpha1.SourceHTTP},
		}
	}
	for name, test := range map[string]struct {
		other  func(b *v1alpha1.Bundle)
		code   fault.Code
		digest string
	}{
		"the other has seen less": {
			func(b *v1alpha1.Bundle) { b.Status.Phase = v1alpha1.PhasePending }, "",
			"sha256:ours",
		},
		"the other has unpacked, too": {func(b *v1alpha1.Bundle) { unpacked(b, "sha256:theirs") }, "", "sha256:theirs"},
		"the bundle was changed":      {func(b *v1alpha1.Bundle) { b.Generation = 2 }, fault.Conflict, "sha256:ours"},
		"the bundle was made again":   {func(b *v1alpha1.Bundle) { b.UID = "2" }, fault.Conflict, "sha256:ours"},
	} {
		t.Run(name, func(t *testing.T) {
			r, client := fakeCluster(t, nil, nil)
			there := &v1alpha1.Bundle{}
			there.TypeMeta, there.Name, there.UID, there.Generation, there.ResourceVersion = resource.TypeMeta(v1alpha1.KindBundle),
				"shop-1", "1", 1, "7"
			ours := *there
			ours.ResourceVersion = "6"
			test.other(there)
			object, err := resource.Encode(there)
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Tracker().Create(v1alpha1.Bundles(), object, ""); err != nil {
				t.Fatal(err)
			}
			client.PrependReactor("update", "bundles", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if sent := action.(clienttesting.UpdateAction).GetObject().(*unstructured.Unstructured); sent.GetResourceVersion() != "7" {
					return true, nil, apierrors.NewConflict(v1alpha1.Bundles().GroupResource(), "shop-1",
						errors.New("it has been modified"))
				}
				return false, nil, nil
			})
			err = r.unpacked(t.Context(), &ours, &content.Content{Digest: "sha256:ours"},
				v1alpha1.Source{Type: v1alpha1.SourceHTTP})
			if fault.CodeOf(err) != test.code || ours.Status.Digest != test.digest {
				t.Errorf("%q with %v, want %q with %q", ours.Status.Digest, err, test.digest, test.code)
			}
		})
	}
}

// Content of another server may be as large as that of any source; what is larger is said
// to be that, as of any source.
func TestContentOfAnotherServerIsBounded(t *testing.T) {
	r, _ := withCache(t)
	noise := make([]byte, 2<<20)
	_, _ = rand.Read(noise)
	c := sealed(t, r, "a", string(noise))
	archive := c.Archive()
	defer archive.Close()
	var packed bytes.Buffer
	if _, err := packed.ReadFrom(archive); err != nil {
		t.Fatal(err)
	}
	provisioner := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write(packed.Bytes())
	}))
	t.Cleanup(provisioner.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: provisioner.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	r.Own = &kube.Client{Config: &rest.Config{Host: "https://api.invalid", BearerToken: "token"}}
	r.Trust = server.Trust{Hosts: []string{strings.TrimPrefix(provisioner.URL, "https://")}, CAFile: ca}
	for limit, fits := range map[int64]bool{int64(packed.Len()): true, int64(packed.Len()) - 1: false, 1 << 20: false} {
		r.Fetcher.Limits.Compressed = limit
		c, err := r.fromURL(t.Context(), provisioner.URL+"/bundles/x.tgz")
		if err == nil {
			_ = c.Close()
		}
		if fits != (err == nil) || !fits && fault.ReasonOf(err) != content.ReasonTooLarge {
			t.Errorf("%d bytes with a limit of %d: %v", packed.Len(), limit, err)
		}
	}
}

// What takes too long to unpack is said on the bundle and on its instance; a pass that
// was interrupted says nothing, and that it was begun is there.
func TestUnpackingEnds(t *testing.T) {
	for name, test := range map[string]struct {
		cause  error
		phases []string
		says   string
	}{
		"it takes too long": {
			fault.New(fault.DeadlineExceeded, "reconciling took longer than 5m0s"),
			[]string{"Unpacking", "Failing"},
			"reconciling took longer than 5m0s",
		},
		"it was interrupted": {context.Canceled, []string{"Unpacking"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				end(test.cause)
				<-r.Context().Done()
			}))
			defer server.Close()
			in := with("", 1)
			in.Spec.Template.Spec.Source = v1alpha1.Source{
				Type: v1alpha1.SourceHTTP,
				HTTP: &v1alpha1.HTTPSource{URL: server.URL + "/shop.tgz"},
			}
			r, client := fakeCluster(t, in, func(*dynamicfake.FakeDynamicClient) {})
			r.Fetcher = source.Fetcher{Cache: content.NewCache(t.TempDir(), 1<<20), Limits: content.DefaultLimits()}
			var phases []string
			client.PrependReactor("update", "bundles", func(action clienttesting.Action) (bool, runtime.Object, error) {
				object := action.(clienttesting.UpdateAction).GetObject().(*unstructured.Unstructured)
				phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
				phases = append(phases, phase)
				return false, nil, nil
			})
			if _, err := r.Instance(ctx, "shop", UntilLookedAt, quiet()); err == nil {
				t.Error("it has worked")
			}
			if !slices.Equal(phases, test.phases) {
				t.Errorf("%q, want %q", phases, test.phases)
			}
			now, err := r.objects().Instance(t.Context(), "shop")
			if err != nil {
				t.Fatal(err)
			}
			c := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionHasValidBundle)
			if (c != nil) != (test.says != "") || c != nil && (c.Status != "False" || !strings.Contains(c.Message, test.says)) {
				t.Errorf("%+v", c)
			}
		})
	}
}
