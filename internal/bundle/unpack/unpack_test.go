package unpack

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
)

// withCache is an unpacker that has the content of some texts in its cache, and no
// cluster; digests are those of the contents.
func withCache(t *testing.T, texts ...string) (u Unpacker, digests []string) {
	t.Helper()
	u = Unpacker{
		Fetcher: source.Fetcher{Cache: content.NewCache(t.TempDir(), 1<<20), Limits: content.DefaultLimits()},
		Now:     time.Now,
	}
	for _, text := range texts {
		c := sealed(t, u, "a", text)
		digests = append(digests, c.Digest)
		_ = c.Close()
	}
	return u, digests
}

// sealed is content of one file, which the cache keeps.
func sealed(t *testing.T, u Unpacker, name, text string) *content.Content {
	t.Helper()
	b, err := content.NewBuilder(u.Fetcher.Cache, u.Fetcher.Limits)
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
	u, digests := withCache(t, "installed", "of another bundle")
	b := &v1alpha1.Bundle{}
	b.Name, b.Status.Digest = "shop-1", digests[0]
	for annotation, says := range map[string]string{"": "", digests[0]: "", digests[1]: "has been changed to " +
		digests[1], "sha256:0": "has been changed to sha256:0"} {
		b.Annotations = map[string]string{v1alpha1.AnnotationContent: annotation}
		c, err := u.Content(t.Context(), b, newSteps(t))
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
	if c, err := u.Content(t.Context(), b, newSteps(t)); fault.CodeOf(err) != fault.Failed ||
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
			client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{v1alpha1.Bundles(): "BundleList"})
			u := Unpacker{Objects: resource.Objects{Client: client}, Now: time.Now}
			there := &v1alpha1.Bundle{}
			there.TypeMeta = resource.TypeMeta(v1alpha1.KindBundle)
			there.Name, there.UID, there.Generation, there.ResourceVersion = "shop-1", "1", 1, "7"
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
				sent := action.(clienttesting.UpdateAction).GetObject().(*unstructured.Unstructured)
				if sent.GetResourceVersion() != "7" {
					return true, nil, apierrors.NewConflict(v1alpha1.Bundles().GroupResource(), "shop-1",
						errors.New("it has been modified"))
				}
				return false, nil, nil
			})
			err = u.WriteUnpacked(t.Context(), &ours, &content.Content{Digest: "sha256:ours"},
				v1alpha1.Source{Type: v1alpha1.SourceHTTP})
			if fault.CodeOf(err) != test.code || ours.Status.Digest != test.digest {
				t.Errorf("%q with %v, want %q with %q", ours.Status.Digest, err, test.digest, test.code)
			}
		})
	}
}

// What is unpacked is of the format of the class, or of one that is another way to write it; what is ambiguous is
// decided by the class.
func TestContentIsOfTheClass(t *testing.T) {
	u, _ := withCache(t)
	for name, test := range map[string]struct {
		file, class, want string
	}{
		"manifests":       {"manifests/a.yaml", v1alpha1.ClassPlain, ""},
		"YAML":            {"deploy/a.yaml", v1alpha1.ClassPlain, ""},
		"a kustomization": {"Kustomization", v1alpha1.ClassPlain, ""},
		"a chart":         {"Chart.yaml", v1alpha1.ClassHelm, ""},
		"a chart as plain": {"Chart.yaml", v1alpha1.ClassPlain, "the content is helm, and class berth-dev-plain is " +
			"for plain+v0"},
		"YAML as a chart": {"a.yaml", v1alpha1.ClassHelm, "the content is yaml, and class berth-dev-helm is for " +
			"helm"},
		"what is no bundle": {"README.md", v1alpha1.ClassPlain, "the format of the bundle is not known: it has " +
			"README.md"},
	} {
		t.Run(name, func(t *testing.T) {
			c := sealed(t, u, test.file, "")
			defer c.Close()
			b := &v1alpha1.Bundle{}
			b.Spec.ProvisionerClassName = test.class
			if err := check(b, c); (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}
