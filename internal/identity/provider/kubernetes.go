package provider

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
)

// cluster knows the caller as the API server does. A caller may act for another
// user if the cluster lets them impersonate that user.
type cluster struct {
	client      kube.Interface
	stripPrefix string // of what the API server calls the caller: oidc:
	// self is the user that the caller's credentials name, see kube.Self. It only
	// decides what is asked first.
	self string
}

// Resolve asks who the caller is, or whether the caller may impersonate username.
// One of the two is usually enough, and the credentials tell which; if they do
// not, both are asked concurrently.
func (c cluster) Resolve(ctx context.Context, username string) (identity.User, error) {
	var caller string
	var allowed bool
	isCaller := func(ctx context.Context) (err error) {
		caller, err = c.Caller(ctx)
		return err
	}
	mayActFor := func(ctx context.Context) (err error) {
		allowed, err = c.mayImpersonate(ctx, username)
		return err
	}
	decided := func() bool { return allowed || caller == username }
	var err error
	switch {
	case c.self == "":
		group, groupCtx := errgroup.WithContext(ctx)
		group.Go(func() error { return isCaller(groupCtx) })
		group.Go(func() error { return mayActFor(groupCtx) })
		err = group.Wait()
	case c.username(c.self) == username:
		err = inTurn(ctx, decided, isCaller, mayActFor)
	default:
		err = inTurn(ctx, decided, mayActFor, isCaller)
	}
	if err != nil {
		return identity.User{}, err
	}
	if !decided() {
		return identity.User{}, fault.New(fault.PermissionDenied, "you are %s on this cluster and may not act for %s", caller, username).
			WithReason(identity.ReasonMayNotActFor).
			WithHint("use `%s` as the username, or ask for permission to impersonate user %s", caller, username)
	}
	return identity.NewUser(username, KindKubernetes), nil
}

// inTurn asks until it is decided.
func inTurn(ctx context.Context, decided func() bool, questions ...func(context.Context) error) error {
	for _, ask := range questions {
		if err := ask(ctx); err != nil || decided() {
			return err
		}
	}
	return nil
}

// Caller is the username of the user that the API server takes the caller for.
func (c cluster) Caller(ctx context.Context) (string, error) {
	review, err := c.client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", kube.Fault(err, kube.Call{Verb: "create", Resource: "selfsubjectreviews.authentication.k8s.io"})
	}
	return c.username(review.Status.UserInfo.Username), nil
}

func (c cluster) mayImpersonate(ctx context.Context, username string) (bool, error) {
	review, err := c.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "users", Name: username},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, kube.Fault(err, kube.Call{Verb: "create", Resource: "selfsubjectaccessreviews.authorization.k8s.io"})
	}
	return review.Status.Allowed, nil
}

// username makes a username of the name of a user of the cluster: the part before
// the @, in lower case, with a dash for each character that a username cannot
// have. Nothing else is left out: system:serviceaccount:a:ci and :b:ci are two
// users.
func (c cluster) username(name string) string {
	name, _, _ = strings.Cut(strings.TrimPrefix(name, c.stripPrefix), "@")
	return strings.Trim(strings.Map(func(r rune) rune {
		if isUsernameRune(r) {
			return r
		}
		return '-'
	}, strings.ToLower(name)), "-")
}

func isUsernameRune(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}
