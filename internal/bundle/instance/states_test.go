package instance

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// What is installed is healthy if its objects are now, whatever was recorded; and only of what
// is installed do the objects decide.
func TestSettle(t *testing.T) {
	deployment := kube.Named("Deployment", "hello")
	deployment.SetNamespace("team")
	gone := []health.Reading{{Object: deployment, State: missing, Message: "it does not exist"}}
	underWay := []health.Reading{{Object: deployment, State: health.InProgress, Message: "0 of 1 available"}}
	then, now := time.Unix(1, 0).UTC(), time.Unix(100, 0).UTC()
	for name, test := range map[string]struct {
		recorded  v1.BundleStateName
		rest      []health.Reading
		class     string
		want      v1.BundleStateName
		condition string
		since     time.Time
		message   string
		advised   bool
	}{
		"everything is there": {
			recorded: v1.BundleHealthy, want: v1.BundleHealthy, condition: "True",
			since: then,
		},
		"one was deleted": {
			recorded: v1.BundleHealthy, rest: gone, want: v1.BundleUnhealthy,
			condition: "False", since: now, message: "deployment/hello in namespace team: it does not exist",
			advised: true,
		},
		"one was deleted, of others": {
			recorded: v1.BundleHealthy, rest: gone, class: "theirs",
			want: v1.BundleUnhealthy, condition: "False", since: now,
			message: "deployment/hello in namespace team: it does not exist",
		},
		"one is on its way again": {
			recorded: v1.BundleHealthy, rest: underWay, want: v1.BundleUnhealthy,
			condition: "False", since: now, message: "deployment/hello in namespace team: 0 of 1 available",
		},
		"it has recovered": {
			recorded: v1.BundleUnhealthy, want: v1.BundleHealthy, condition: "True",
			since: now,
		},
		"it has not": {
			recorded: v1.BundleUnhealthy, rest: underWay, want: v1.BundleUnhealthy,
			condition: "False", since: then, message: "deployment/hello in namespace team: 0 of 1 available",
		},
		"nobody has waited, and it is well": {
			recorded: v1.BundlePending, want: v1.BundleHealthy, condition: "True",
			since: now,
		},
		"nobody has waited, and it is on its way": {
			recorded: v1.BundlePending, rest: underWay, want: v1.BundlePending,
			condition: "False", since: then, message: "deployment/hello in namespace team: 0 of 1 available",
		},
		"nobody has waited, and one was deleted": {
			recorded: v1.BundlePending, rest: gone, want: v1.BundleUnhealthy,
			condition: "False", since: now, message: "deployment/hello in namespace team: it does not exist",
			advised: true,
		},
		"what is wanted is not there": {
			recorded: v1.BundleFailed, want: v1.BundleFailed,
			condition: "as recorded", since: then,
		},
		"it is being deleted": {
			recorded: v1.BundleDeleting, rest: gone, want: v1.BundleDeleting,
			condition: "as recorded", since: then,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := v1.BundleState{
				State: test.recorded, Class: v1alpha1.ClassPlain,
				Objects: []v1.BundleObject{{Object: "deployment/hello"}},
				Conditions: []v1.BundleCondition{
					{Type: v1alpha1.ConditionInstalled, Status: "True"},
					{Type: v1alpha1.ConditionHealthy, Status: "as recorded", Since: then},
				},
			}
			if test.class != "" {
				s.Class = test.class
			}
			applyHealth(&s, test.rest, now)
			c := s.Conditions[1]
			if s.State != test.want || c.Status != test.condition || !c.Since.Equal(test.since) ||
				s.Message != test.message {
				t.Errorf("%s: %q, %+v", s.State, s.Message, c)
			}
			if test.condition != "as recorded" && (c.Message == allCurrent) != (s.State == v1.BundleHealthy) {
				t.Errorf("%s, and the condition says %q", s.State, c.Message)
			}
			if advice := strings.Join(s.Warnings, ""); strings.Contains(advice,
				"`berth bundle reconcile`") != test.advised {
				t.Errorf("advice %q", advice)
			}
		})
	}
}

// What is installed stays in its namespace; only a request for another one is refused.
func TestKeep(t *testing.T) {
	in := func(installed, namespace string) *v1alpha1.Instance {
		in := with("", 2)
		in.Status.InstalledBundleName = installed
		in.Spec.Config, _ = json.Marshal(v1alpha1.Config{Namespace: namespace, Values: "a: b"})
		return in
	}
	theirs := in("shop-1", "team")
	theirs.Spec.ProvisionerClassName = "theirs"
	for name, test := range map[string]struct {
		instance  *v1alpha1.Instance
		namespace string
		asked     bool
		want      string // empty if it is refused
	}{
		"a new one":                            {nil, "team", true, "team"},
		"a new one, by the context":            {nil, "team", false, "team"},
		"nothing has come of it":               {in("", "tema"), "team", true, "team"},
		"nothing has come of it, by a context": {in("", "tema"), "team", false, "team"},
		"the same":                             {in("shop-1", "team"), "team", true, "team"},
		"by another context":                   {in("shop-1", "team"), "default", false, "team"},
		"asked for another one":                {in("shop-1", "team"), "default", true, ""},
		"it was applied without one":           {in("shop-1", ""), "default", true, ""},
		"which is the system namespace":        {in("shop-1", ""), "system", true, "none"},
		"and stays so":                         {in("shop-1", ""), "default", false, "none"},
		"another program's":                    {theirs, "default", true, "default"},
	} {
		got, err := Snapshot{Instance: test.instance}.Keep("system", test.namespace, test.asked)
		want := test.want
		if want == "none" {
			want = ""
		}
		if got != want || (test.want == "") != (fault.CodeOf(err) == fault.Conflict) || test.want != "" && err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// The instance that is read is never older than the bundles that are.
func TestFreshOrder(t *testing.T) {
	r, client := fakeCluster(t, with("one", 1), func(*dynamicfake.FakeDynamicClient) {})
	client.PrependReactor("list", "bundles", func(clienttesting.Action) (bool, runtime.Object, error) {
		put(t, client, with("two", 2)) // and its bundle is in this list
		return false, nil, nil
	})
	k, err := r.fresh(t.Context(), "shop")
	if err != nil || k.Instance.Generation != 2 {
		t.Errorf("%+v, %v", k.Instance, err)
	}
	var verbs []string
	for _, a := range client.Actions() {
		verbs = append(verbs, a.GetVerb()+" "+a.GetResource().Resource)
	}
	if got := strings.Join(verbs, ", "); got != "list bundles, get bundleinstances" {
		t.Errorf("asked for %s", got)
	}
}
