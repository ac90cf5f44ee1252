package inventory

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

func TestCandidates(t *testing.T) {
	for arg, want := range map[string]string{
		"alice~dev":                            "alice-59936c3",
		"alice":                                "alice-a975fae alice",
		"alice-59936c3":                        "alice-59936c3-8d7132b alice-59936c3",
		"id/alice-59936c3":                     "alice-59936c3",
		"web.example":                          "web-example--0etugal4hi7q-a35939b web.example", // a user, or a pod
		"alice~repo=a/b":                       "alice-ff5033f",
		"alice~pod=web":                        "web/alice",
		"alice~dev+workload=deployment/x+ns=y": "alice-b09c917 in y",
		"alice~pod=web+ns=x":                   "web/alice in x",
	} {
		a, err := ParseArgument(arg)
		var got []string
		for _, c := range a.candidates {
			if c.owner != "" {
				c.id += "/" + c.owner
			}
			got = append(got, c.id)
		}
		if a.Namespace != "" {
			got = append(got, "in", a.Namespace)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %s, %v; want %s", arg, got, err, want)
		}
	}
	for _, arg := range []string{"", "id/", "id/Not_Legal", "alice~", "Alice B"} {
		if a, err := ParseArgument(arg); err == nil {
			t.Errorf("%q is looked up as %v", arg, a.IDs())
		}
	}
}

// What berth has written can be longer than what may be typed, and names the same.
func TestParseRecorded(t *testing.T) {
	u, err := userstring.Parse("alice~repo=" + strings.Repeat("ä", 110))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseArgument(u.String()); err == nil {
		t.Errorf("%s may be typed", u)
	}
	a, err := ParseRecorded(u.String())
	if err != nil || !slices.Equal(a.IDs(), []string{u.ID()}) || !a.Means(u.ID(), u.String()) {
		t.Errorf("%s means %s, %v", u, a.IDs(), err)
	}
}

// A record of a job is a workspace's by its ID and, as far as it is known, its user
// string.
func TestMeans(t *testing.T) {
	const id = "alice-b103207" // of both alice~bp7936 and alice~bp7947
	for _, test := range []struct {
		argument, id, userString string
		want                     bool
	}{
		{"alice~bp7936", id, "alice~bp7936", true},
		{"alice~bp7936", id, "", true},
		{"alice~bp7936", id, "alice~bp7947", false},
		{"alice~bp7936", "bob-1", "alice~bp7936", false},
		{"id/" + id, id, "alice~bp7947", true},
		{id, id, "alice~bp7947", true},
		{"alice~pod=" + id, id, "alice~bp7947", true},
		{"alice~pod=" + id, id, "", true},
		{"bob~pod=" + id, id, "alice~bp7947", false},
	} {
		arg, err := ParseArgument(test.argument)
		if err != nil {
			t.Fatal(err)
		}
		if got := arg.Means(test.id, test.userString); got != test.want {
			t.Errorf("%s means %s of %q: %t", test.argument, test.id, test.userString, got)
		}
	}
}

// What a list has names its workspace again: one in a workload by its user string, any other
// by its ID, each in its namespace.
func TestListedArgument(t *testing.T) {
	for _, test := range []struct {
		w    v1.Workspace
		want string
	}{
		{v1.Workspace{ID: "alice-1", Namespace: "dev", UserString: "alice~dev"}, "id/alice-1"},
		{v1.Workspace{ID: "alice-1", Namespace: "dev", Workload: "deployment/web"}, "id/alice-1"},
		{v1.Workspace{ID: "alice-1", Namespace: "dev", Workload: "deployment/web", UserString: injected}, injected},
	} {
		if a, err := ListedArgument(test.w); a.Text != test.want || a.Namespace != "dev" || err != nil {
			t.Errorf("%+v: %q in %q, %v; want %q", test.w, a.Text, a.Namespace, err, test.want)
		}
	}
	if _, err := ListedArgument(v1.Workspace{ID: "No_Name"}); err == nil {
		t.Error("what is no name names something")
	}
}

// Anyone who asks for a workspace that is not there is told how to create it, unless what they ask
// for is no user string, or names one that exists.
func TestOtherwise(t *testing.T) {
	const lists = "`berth status` lists the workspaces of a namespace; --namespace chooses another one"
	for text, want := range map[string]string{
		"alice~dev": "`berth provision alice~dev --namespace dev` creates it if there is a blueprint dev, which " +
			"`berth blueprint list` says; " + lists,
		"alice":         "`berth provision alice --namespace dev` creates it; " + lists,
		"id/alice-1":    lists,
		"alice~pod=web": lists,
	} {
		arg, err := ParseArgument(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := arg.otherwise("dev"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A workspace from before several callers could not be one user is told by the provider of its user, which an
// organization once followed.
func TestFormerKubernetesUsers(t *testing.T) {
	asks := errors.New("asked")
	r := Reader{Former: func(context.Context, string) error { return asks }}
	c := candidate{owner: "alice"}
	for identity, want := range map[string]error{
		"kubernetes": asks, "kubernetes/": asks, "kubernetes/acme": asks, "ldap": nil, "kubernetes2": nil, "": nil,
	} {
		of := &metav1.ObjectMeta{Annotations: map[string]string{kube.AnnotationIdentity: identity}}
		if err := r.former(t.Context(), c, of); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", identity, err, want)
		}
	}
}
