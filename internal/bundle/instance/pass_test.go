package instance

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

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
			if (c != nil) != (test.says != "") || c != nil &&
				(c.Status != "False" || !strings.Contains(c.Message, test.says)) {
				t.Errorf("%+v", c)
			}
		})
	}
}
