package apply

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
)

// A resource is created once its definition is established.
func TestEstablished(t *testing.T) {
	for name, test := range map[string]struct {
		condition string
		says      string // empty if it gets there
	}{
		"established": {"Established=True", ""},
		"the name taken": {
			"NamesAccepted=False",
			"customresourcedefinition/crews.example.org is not established: crews is taken",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := parse(t, `{apiVersion: example.org/v1, kind: Crew, metadata: {name: c}}
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: crews.example.org}, `+
				`spec: {group: example.org, scope: Namespaced, names: {kind: Crew, plural: crews}, `+
				`versions: [{name: v1}]}}`)
			c := newCluster()
			c.PrependWatchReactor("customresourcedefinitions", func(action clienttesting.Action) (bool, watch.Interface,
				error,
			) {
				if w, is := action.(clienttesting.WatchActionImpl); is && w.ListOptions.SendInitialEvents != nil {
					return false, nil, nil
				}
				if slices.Contains(c.wrote(), "create crews") {
					t.Error("it did not wait")
				}
				now := objects[1].DeepCopy()
				kind, status, _ := strings.Cut(test.condition, "=")
				condition := map[string]any{
					"type": kind, "status": status, "reason": "NoConflicts",
					"message": "crews is taken",
				}
				_ = unstructured.SetNestedSlice(now.Object, []any{condition}, "status", "conditions")
				changes := watch.NewRaceFreeFake()
				changes.Modify(now)
				return true, changes, nil
			})
			changes, err := c.applier().Apply(t.Context(), Objects(objects))
			if test.says != "" {
				if fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), test.says) {
					t.Errorf("it ended with %v", err)
				}
				expect(t, actions(changes), "create CustomResourceDefinition")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			expect(t, actions(changes), "create Crew", "create CustomResourceDefinition")
			if c.reads != 0 {
				t.Errorf("it was looked at %d times, besides the watch", c.reads)
			}
		})
	}
}

func (c *cluster) wrote() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.writes)
}

// Custom resources are sent a moment after a webhook that is to be asked about them.
func TestCustomResourcesAreGuarded(t *testing.T) {
	objects := append(many(t, 5), parse(t,
		`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: w}, `+
			`webhooks: [{name: v.example.org, sideEffects: None}]}`)...)
	b := newBundle(t)
	var webhook, crew time.Time
	b.refuse = func(r *http.Request) (int, string) {
		switch {
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/mutatingwebhookconfigurations"):
			webhook = time.Now()
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/crews"):
			crew = time.Now()
		}
		return 0, ""
	}
	b.again(t, objects)
	if webhook.IsZero() || crew.Sub(webhook) < guardedTime {
		t.Errorf("the webhook was sent at %s, the custom resource at %s", webhook, crew)
	}
}

func TestHasNewWebhook(t *testing.T) {
	for name, test := range map[string]struct {
		kind   string
		change *Change
		want   bool
	}{
		"created":    {"MutatingWebhookConfiguration", &Change{Action: Created}, true},
		"updated":    {"ValidatingWebhookConfiguration", &Change{Action: Updated}, true},
		"unchanged":  {"ValidatingWebhookConfiguration", &Change{Action: Unchanged}, false},
		"put off":    {"ValidatingWebhookConfiguration", nil, false},
		"no webhook": {"ValidatingAdmissionPolicy", &Change{Action: Created}, false},
	} {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(schema.GroupVersionKind{
			Group: "admissionregistration.k8s.io", Version: "v1",
			Kind: test.kind,
		})
		r := &run{items: []*item{{Wanted: Wanted{Object: object}, change: test.change}}}
		if got := r.hasNewWebhook(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
