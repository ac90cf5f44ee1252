package provider

import (
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
	client.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: mayImpersonate}}, nil
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
		{"Alice@example.com", false, "alice", ""},
		{"alice", false, "bob", fault.PermissionDenied},
		{"alice", true, "bob", ""},
		// An account of the same name in another namespace is another user.
		{"system:serviceaccount:other:alice", false, "alice", fault.PermissionDenied},
		{"system:serviceaccount:ci:deploy", false, "system-serviceaccount-ci-deploy", ""},
	} {
		user, err := clusterOf(test.caller, test.impersonate).Resolve(t.Context(), test.username)
		if got := fault.CodeOf(err); got != test.want {
			t.Errorf("%s as %s: %v, want %q", test.caller, test.username, err, test.want)
		}
		if err == nil && (user.Username != test.username || user.Provider != "kubernetes") {
			t.Errorf("%s as %s is %+v", test.caller, test.username, user)
		}
	}
}
