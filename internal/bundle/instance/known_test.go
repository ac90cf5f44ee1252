package instance

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// What is installed stays in its namespace; only a request for another one is refused.
func TestKeep(t *testing.T) {
	in := func(installed, namespace string) *v1alpha1.Instance {
		in := instance(installed)
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
		got, err := Known{Instance: test.instance}.Keep("system", test.namespace, test.asked)
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
	k, err := r.fresh(t.Context(), instance("").Name)
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
