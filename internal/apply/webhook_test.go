package apply

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Custom resources are sent a moment after a webhook that is to be asked about them.
func TestCustomResourcesAreGuarded(t *testing.T) {
	objects := append(many(t, 5), parse(t,
		`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: w}, webhooks: [{name: v.example.org, sideEffects: None}]}`)...)
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
