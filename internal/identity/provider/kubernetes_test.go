package provider

import (
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
)

// clusterOf says who the caller is and whether they may impersonate others.
func clusterOf(caller string, mayImpersonate bool) cluster {
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authenticationv1.SelfSubjectReview{Status: authenticationv1.SelfSubjectReviewStatus{
			UserInfo: authenticationv1.UserInfo{Username: caller},
		}}, nil
	})
	client.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object,
		error,
	) {
		return true, &authorizationv1.SelfSubjectAccessReview{
			Status: authorizationv1.SubjectAccessReviewStatus{Allowed: mayImpersonate},
		}, nil
	})
	return cluster{client: client}
}

func TestResolve(t *testing.T) {
	for _, test := range []struct {
		caller      string
		impersonate bool
		username    string
		want        fault.Code
	}{
		{"alice", false, "alice", ""},
		{"alice@example.com", false, "alice@example.com", ""},
		{"alice@example.com", false, "alice", fault.PermissionDenied},
		{"alice@evil.org", false, "alice@example.com", fault.PermissionDenied},
		{"Alice", false, "alice", fault.PermissionDenied},
		{"Alice", false, "Alice", ""},
		{"jo.smith@x", false, "jo-smith", fault.PermissionDenied},
		{"alice", false, "bob", fault.PermissionDenied},
		{"alice", true, "bob", ""},
		// An account of the same name in another namespace is another user.
		{"system:serviceaccount:other:alice", false, "alice", fault.PermissionDenied},
		{"system:serviceaccount:ci:deploy", false, "system:serviceaccount:ci:deploy", ""},
		{"system:serviceaccount:ci:deploy", false, "system-serviceaccount-ci-deploy", fault.PermissionDenied},
	} {
		user, err := clusterOf(test.caller, test.impersonate).Resolve(t.Context(), test.username)
		if got := fault.CodeOf(err); got != test.want {
			t.Errorf("%s as %s: %v, want %q", test.caller, test.username, err, test.want)
		}
		if err == nil && (user.Username != test.username || user.Provider != "kubernetes" ||
			user.Name != test.username) {
			t.Errorf("%s as %s is %+v", test.caller, test.username, user)
		}
	}
}

// Whatever prefix is stripped, no two callers have the same username, and a username says whom
// somebody has to be allowed to impersonate.
func TestPrefixKeepsCallersApart(t *testing.T) {
	var names []string
	for _, name := range []string{
		"alice", "Alice", "a", "system:alice", "system:serviceaccount:ci:deploy", "oidc:alice",
		"oidc:", "oidc:oidc:alice", ":alice", "::alice", "@", "|", strings.Repeat("x", 2000),
	} {
		for _, prefix := range []string{
			"", "oidc:", "oidc:oidc:", "https://issuer.example.com#", "s", "system:",
			"system:serviceaccount:", "a", ":", "::", "oidc::", "oidc:system:",
		} {
			names = append(names, prefix+name)
		}
	}
	slices.Sort(names)
	for _, prefix := range []string{
		"", "oidc:", "https://issuer.example.com#", "s", "system:", "system:serviceaccount:",
		"a",
	} {
		seen := map[string]string{}
		for _, name := range slices.Compact(slices.Clone(names)) {
			c := cluster{stripPrefix: prefix}
			username := c.username(name)
			if other, is := seen[username]; is {
				t.Errorf("without %q, %.60q and %.60q are both %q", prefix, other, name, username)
			}
			seen[username] = name
			if known, ok := c.name(username); ok && known != name || !ok && len(name) < 1000 {
				t.Errorf("without %q, %.60q is %q, which is %.60q, %t", prefix, name, username, known, ok)
			}
		}
	}
	for name, want := range map[string]string{
		"oidc:alice": "alice", "alice": ":alice",
		"system:serviceaccount:ci:deploy": "system:serviceaccount:ci:deploy",
		"oidc:system:masters":             "oidc:system:masters",
		"oidc::x":                         "oidc::x",
	} {
		if got := (cluster{stripPrefix: "oidc:"}).username(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// For a caller who acts for another user, the API server is asked as it asks for impersonation.
func TestImpersonating(t *testing.T) {
	for name, want := range map[string][3]string{
		"alice": {"users", "", "alice"}, "system:serviceaccount:ci:deploy": {"serviceaccounts", "ci", "deploy"},
		"system:serviceaccount:ci":    {"users", "", "system:serviceaccount:ci"},
		"system:serviceaccount:c i:x": {"users", "", "system:serviceaccount:c i:x"},
	} {
		if a := impersonating(name); a.Verb != "impersonate" || [3]string{a.Resource, a.Namespace, a.Name} != want {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A caller who names the user that they once were is told what has become of it.
func TestFormer(t *testing.T) {
	for _, test := range []struct {
		caller, username string
		refused          bool
	}{
		{"alice@example.com", "alice", true},
		{"alice@evil.org", "alice", true},
		{"Alice", "alice", true},
		{"jo.smith@x", "jo-smith", true},
		{"system:serviceaccount:ci:deploy", "system-serviceaccount-ci-deploy", true},
		{"alice", "alice", false},
		{"alice@example.com", "alice@example.com", false},
		{"bob", "alice", false}, // RBAC decides
	} {
		err := Former(clusterOf(test.caller, true).client)(t.Context(), test.username)
		if (fault.CodeOf(err) == fault.PermissionDenied) != test.refused {
			t.Errorf("%s as %s: %v", test.caller, test.username, err)
		}
		if err != nil && !strings.Contains(fault.From(err).Hint, "your user string is now "+fault.Word(test.caller)) &&
			test.caller[0] == 'a' {
			t.Errorf("the hint is %s", fault.From(err).Hint)
		}
	}
}
