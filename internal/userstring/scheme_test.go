package userstring

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// The keys and IDs of k8shell's provisioner, beside berth's own where they differ. Each hash was made with sha256sum:
//
//	printf '%s' 'u=alice|bp=dev' | sha256sum | cut -c1-7
func TestIDsOfK8shell(t *testing.T) {
	for _, c := range []struct{ typed, key, id, own string }{
		{"alice", "u=alice", "alice-a975fae", ""},
		{"Alice~dev", "u=alice|bp=dev", "alice-59936c3", ""},
		{"alice~dev+user=root", "u=alice|bp=dev", "alice-59936c3", ""},
		// Blueprint names keep their case.
		{"alice~Dev", "u=alice|bp=Dev", "alice-8560552", "alice-59936c3"},
		// A workload has one ID in all namespaces.
		{
			"bob~dev+workload=deployment/identity+ns=shop", "u=bob|bp=dev|workload=deployment/identity", "bob-04bc53f",
			"bob-ff22ca6",
		},
		{
			"bob~dev+workload=Deployment/Identity+ns=bank", "u=bob|bp=dev|workload=deployment/identity", "bob-04bc53f",
			"bob-",
		},
		{
			"bob~repo=Org/Proj+ref=Main+workload=daemonset/d+ns=x",
			"u=bob|r=org/proj|ref=main|bp=repo-org-proj|workload=daemonset/d", "bob-48d7cbe", "bob-",
		},
		{"alice~repo=org/proj", "u=alice|r=org/proj|bp=repo-org-proj", "alice-520a32d", ""},
		{"alice~repo=proj", "u=alice|r=alice/proj|bp=repo-alice-proj", "alice-574ec86", ""},
		{"alice~repo=Org/Proj+ref=Feature/X", "u=alice|r=org/proj|ref=feature/x|bp=repo-org-proj", "alice-db998bc", ""},
		// Of a repository with more parts, the first is the owner.
		{
			"alice~repo=grp/sub/proj", "u=alice|r=grp/sub/proj|bp=repo-grp-sub/proj", "alice-68ba3c9",
			"alice-58cd847",
		},
		{"alice~repo=a/b/c/d", "u=alice|r=a/b/c/d|bp=repo-a-b/c/d", "alice-21b9656", "alice-"},
		// The username is taken as it is.
		{"jo_smith~dev", "u=jo_smith|bp=dev", "jo_smith-4bfc0c6", "jo-smith-4bfc0c6"},
		{"Jo.Smith~dev", "u=jo.smith|bp=dev", "jo.smith-e8abee1", "jo-smith--"},
		{"1st~dev", "u=1st|bp=dev", "1st-296fad4", "u-1st-296fad4"},
		{
			strings.Repeat("a", 42), "u=" + strings.Repeat("a", 42), strings.Repeat("a", 42) + "-2265661", "",
		},
		{
			strings.Repeat("a", 43), "u=" + strings.Repeat("a", 43), strings.Repeat("a", 43) + "-a6494a8",
			strings.Repeat("a", 42) + "-a6494a8",
		},
		// Named, it is the pod.
		{"alice~pod=ws1+ns=x", "", "ws1", ""},
	} {
		own, err := Parse(c.typed)
		if err != nil {
			t.Fatal(err)
		}
		u := own.In(K8shell)
		if u.Key() != c.key || u.ID() != c.id {
			t.Errorf("%s has the key %q and the ID %q, want %q and %q", c.typed, u.Key(), u.ID(), c.key, c.id)
		}
		if c.own == "" {
			c.own = c.id
		}
		if !strings.HasPrefix(own.ID(), c.own) || u.In(Own) != own {
			t.Errorf("%s has the ID %q of berth, want %s; back again it is %+v", c.typed, own.ID(), c.own, u.In(Own))
		}
		other, differs := own.Other()
		if back, _ := u.Other(); other != u || back != own || differs != (own.ID() != c.id) {
			t.Errorf("%s: the other schemes are %+v and %+v, %t", c.typed, other, back, differs)
		}
		for _, id := range []string{own.ID(), c.id} {
			if !own.Names(id) || !u.Names(id) || own.Naming(id).ID() != id || u.Naming(id).ID() != id {
				t.Errorf("%s does not name %s", c.typed, id)
			}
		}
		if own.Names("alice-0000000") || own.Naming("alice-0000000") != own {
			t.Errorf("%s names something else", c.typed)
		}
	}
}

// An ID that is no valid name is refused, and what helps is said; berth's own are valid whatever the user is called.
func TestCheckID(t *testing.T) {
	const shape, long = "only lowercase letters, digits and dashes", "at most 50 characters"
	for typed, says := range map[string]string{
		"alice~Dev": "", "alice~pod=x.y": "", "jo-smith": "", strings.Repeat("a", 42): "",
		"jo_smith": shape, "jo.smith": shape, "1st": shape, "alice@example.com": shape, "%41lice": shape,
		"a%7Cb":  shape,
		"müller": shape, strings.Repeat("a", 43): long,
	} {
		u, err := Parse(typed)
		if err != nil {
			t.Fatal(err)
		}
		if err := u.CheckID(); err != nil {
			t.Errorf("%s: %v", typed, err)
		}
		err = u.In(K8shell).CheckID()
		if (err == nil) != (says == "") || err != nil && (fault.CodeOf(err) != fault.InvalidArgument ||
			!strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), u.In(K8shell).ID()) ||
			!strings.Contains(fault.From(err).Hint, "compat: k8shell")) {
			t.Errorf("%s: %v, want %q", typed, err, says)
		}
	}
}

// The canonical user string of each scheme, as an annotation has it. Both are read again, and mean the same.
func TestAnnotation(t *testing.T) {
	for _, c := range []struct{ typed, own, theirs string }{
		{"alice", "alice", "alice"},
		{"alice~Dev", "alice~dev", "alice~Dev"},
		{"alice~a%2Bb%40c%3D%7E", "alice~a%2Bb%40c%3D%7E", "alice~a%2Bb%40c%3D%7E"},
		{"alice~repo=Org/Proj", "alice~repo=org/proj", "alice~repo=org%2Fproj"},
		{"alice~repo=grp/sub/proj", "alice~repo=grp/sub/proj", "alice~repo=grp%2Fsub%2Fproj"},
		{
			"alice~user=root+ref=R/1+repo=org/proj", "alice~ref=R/1+repo=org/proj+user=root",
			"alice~repo=org%2Fproj+ref=R%2F1+user=root",
		},
		{
			"bob~dev+user=root+ns=shop+workload=deployment/identity",
			"bob~dev+ns=shop+user=root+workload=deployment/identity",
			"bob~dev+workload=deployment%2Fidentity+ns=shop+user=root",
		},
		{"alice~user=root+ns=x+pod=ws1", "alice~ns=x+pod=ws1+user=root", "alice~pod=ws1+ns=x+user=root"},
	} {
		u, err := Parse(c.typed)
		if err != nil {
			t.Fatal(err)
		}
		for scheme, want := range map[Scheme]string{Own: c.own, K8shell: c.theirs} {
			value := u.In(scheme).Annotation()
			if got, err := base64.RawURLEncoding.DecodeString(value); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v, want %q", c.typed, got, err, want)
			}
			again, err := ParseCanonical(FromAnnotation(value))
			if err != nil || again.In(scheme).Key() != u.In(scheme).Key() || again.OSUser != u.OSUser ||
				again.Namespace != u.Namespace || again.RefTyped != u.RefTyped || !again.Names(u.In(scheme).ID()) {
				t.Errorf("%s: read again, it is %+v, %v", want, again, err)
			}
		}
	}
	if got := mustParse(t, "bob~dev+user=root+ns=shop+workload=deployment/identity").In(K8shell).
		Annotation(); got != "Ym9ifmRldit3b3JrbG9hZD1kZXBsb3ltZW50JTJGaWRlbnRpdHkrbnM9c2hvcCt1c2VyPXJvb3Q" {
		t.Error(got) // made with basenc --base64url
	}
}

func mustParse(t *testing.T, typed string) UserString {
	t.Helper()
	u, err := Parse(typed)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
