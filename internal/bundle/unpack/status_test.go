package unpack

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/resource"
)

// A bundle that is unpacked says where it is served by the server that runs now, and that it is not; a terminal leaves
// that as it is. None of them fetches it again.
func TestBundlesSayWhereTheyAreServed(t *testing.T) {
	const there, before = "https://there.example.com", "https://before.example.com"
	url := func(base string) string {
		if base == "" {
			return ""
		}
		return Unpacker{BaseURL: base}.contentURL("shop-1")
	}
	for name, test := range map[string]struct {
		base   string
		server bool
		was    string
		want   string
		says   string // behind what was unpacked
	}{
		"a server that knows where":      {there, true, there, there, ""},
		"a server that is elsewhere now": {there, true, before, there, ""},
		"a server after a terminal":      {there, true, "", there, ""},
		"a server without --base-url":    {"", true, "", "", "; as it was"},
		"a server that has no --base-url any more": {
			"", true, before, "", "; it has no contentURL, as the server runs without --base-url",
		},
		"a terminal, and nobody serves it":            {"", false, "", "", "; as it was"},
		"a terminal, where a server has written that": {"", false, before, before, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u, digests := withCache(t, "content")
			client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{v1alpha1.Bundles(): "BundleList"})
			u.Objects, u.BaseURL = resource.Objects{Client: client}, test.base
			if test.server {
				u.Fetches = NewFetches(u.Fetcher.Cache)
			}
			b := &v1alpha1.Bundle{}
			b.TypeMeta, b.Name, b.Spec.ProvisionerClassName = resource.TypeMeta(v1alpha1.KindBundle), "shop-1",
				v1alpha1.ClassPlain
			b.Status.ResolvedSource, b.Status.Digest = &v1alpha1.Source{Type: v1alpha1.SourceUpload}, digests[0]
			b.Status.ContentURL = url(test.was)
			message := "unpacked (1 file)"
			if test.was == "" {
				message += "; as it was"
			}
			resource.SetUnpacked(b, v1alpha1.PhaseUnpacked, resource.Yes(v1alpha1.ReasonUnpackSuccessful, message),
				time.Unix(0, 0))
			object, err := resource.Encode(b)
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Tracker().Create(v1alpha1.Bundles(), object, ""); err != nil {
				t.Fatal(err)
			}
			if err := u.Bundle(t.Context(), "shop-1", newSteps(t)); err != nil {
				t.Fatal(err)
			}
			now, err := u.Objects.Bundle(t.Context(), "shop-1")
			if err != nil {
				t.Fatal(err)
			}
			c := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionUnpacked)
			if now.Status.ContentURL != url(test.want) || c.Message != "unpacked (1 file)"+test.says {
				t.Errorf("%q, %q", now.Status.ContentURL, c.Message)
			}
		})
	}
}
