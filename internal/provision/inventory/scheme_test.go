package inventory

import (
	"net/http"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// Whichever scheme a workspace was made by, and whichever is configured, its user string finds it.
func TestFindInEitherScheme(t *testing.T) {
	schemes := []userstring.Scheme{userstring.Own, userstring.K8shell}
	for _, text := range []string{"alice~Dev", "jo.smith~dev", "alice~repo=grp/sub/proj", "alice~dev", "alice~" +
		"dev+workload=deployment/web+ns=team"} {
		for _, made := range schemes {
			w := newWorld(t)
			u, err := userstring.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			id := u.In(made).ID()
			if u.Workload.IsZero() {
				w.pod(id, id, text, watchtest.OnNode, watchtest.AppReady)
			} else {
				w.deployment(id, text)
			}
			for _, configured := range schemes {
				w.Scheme = configured
				found, err := w.Find(t.Context(), named(t, text))
				if err != nil || found.ID != id {
					t.Errorf("%s, made by scheme %q: with %q it is %+v, %v", text, made, configured, found, err)
				}
				as, err := w.Named(t.Context(), u)
				if configured == userstring.K8shell && (err != nil || as.ID() != id) {
					t.Errorf("%s, made by scheme %q: it is named %s, %v", text, made, as.ID(), err)
				}
			}
			if !named(t, text).Means(id, text) || named(t, text).Means(id, "bob~dev") {
				t.Errorf("%s does not mean %s alone", text, id)
			}
		}
	}
}

// A user string is named as is configured. With k8shell's scheme, an ID that is no name is refused, unless the
// workspace exists under berth's own.
func TestNamed(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		scheme   userstring.Scheme
		text, id string
		says     string
	}{
		{userstring.Own, "jo_smith~dev", "jo-smith-4bfc0c6", ""},
		{userstring.Own, "alice~Dev", "alice-59936c3", ""},
		{userstring.K8shell, "alice~Dev", "alice-8560552", ""},
		{userstring.K8shell, "alice~dev", "alice-59936c3", ""},
		{userstring.K8shell, "jo_smith~dev", "", `has the ID "jo_smith-4bfc0c6" in k8shell's scheme`},
	} {
		u, err := userstring.Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		w.Scheme = test.scheme
		got, err := w.Named(t.Context(), u)
		if (err == nil) != (test.says == "") || err == nil && got.ID() != test.id || err != nil &&
			(fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s in scheme %q: %s, %v", test.text, test.scheme, got.ID(), err)
		}
	}
	const typed = "jo_smith~dev"
	w.pod("jo-smith-4bfc0c6", "jo-smith-4bfc0c6", typed)
	u, err := userstring.Parse(typed)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.Named(t.Context(), u); err != nil || got != u {
		t.Errorf("%+v, %v", got, err)
	}
}

// It is looked for in the other scheme only where the IDs differ and nothing has the first one.
func TestRequestsOfSchemes(t *testing.T) {
	for _, test := range []struct {
		text  string
		there bool
		want  int
	}{{"alice~dev", false, 1}, {"alice~Dev", false, 2}, {"alice~Dev", true, 1}} {
		w, looked := newWorld(t), 0
		if id := named(t, test.text).IDs()[0]; test.there {
			w.pod(id, id, test.text)
		}
		w.requests.Set(http.StatusForbidden, func(_ int, request string) bool {
			if request == "list pods" {
				looked++
			}
			return false
		})
		_, err := w.Find(t.Context(), named(t, test.text))
		if looked != test.want || (err == nil) != test.there {
			t.Errorf("%s: it is looked up %d times, want %d; %v", test.text, looked, test.want, err)
		}
	}
}

// What k8shell has encoded is shown as everybody types it.
func TestUserStringOfK8shell(t *testing.T) {
	for text, want := range map[string]string{
		"alice~dev": "alice~dev", "alice~Dev": "alice~Dev", "alice~repo=org%2Fproj": "alice~repo=org/proj",
		"bob~Dev+workload=deployment%2Fweb+ns=shop": "bob~Dev+ns=shop+workload=deployment/web",
		"alice~repo=a%2Fb%2Fc+ref=R%2F1":            "alice~ref=R/1+repo=a/b/c", "a~b%2F~": "a~b%2F~",
	} {
		annotations := map[string]string{kube.AnnotationUserString: userstring.ToAnnotation(text)}
		if got := UserStringOf(annotations); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}
