package identity

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// Kubernetes takes the cluster's word for who the caller is. A caller who is
// somebody else may act for a user if the cluster lets them impersonate that
// user.
type Kubernetes struct {
	// StripPrefix is left out of what the API server calls the caller: oidc:.
	StripPrefix string
	Client      kubernetes.Interface
	// Self is whom the caller's credentials speak of, see kube.Self. It only
	// decides what is asked first.
	Self string
}

// Resolve asks who the caller is, or whether the caller may impersonate username.
// One of the two is usually enough, and the credentials tell which; where they do
// not, both are asked side by side.
func (k Kubernetes) Resolve(ctx context.Context, username string) (User, error) {
	user := newUser(username, "kubernetes")
	var caller string
	var allowed bool
	isCaller := func(ctx context.Context) (err error) {
		caller, err = k.Caller(ctx)
		return err
	}
	mayActFor := func(ctx context.Context) (err error) {
		allowed, err = k.mayImpersonate(ctx, username)
		return err
	}
	decided := func() bool { return allowed || caller == username }
	var err error
	switch {
	case k.Self == "":
		group, groupCtx := errgroup.WithContext(ctx)
		group.Go(func() error { return isCaller(groupCtx) })
		group.Go(func() error { return mayActFor(groupCtx) })
		err = group.Wait()
	case k.username(k.Self) == username:
		err = inTurn(ctx, decided, isCaller, mayActFor)
	default:
		err = inTurn(ctx, decided, mayActFor, isCaller)
	}
	if err != nil {
		return User{}, err
	}
	if !decided() {
		return User{}, fault.New(fault.PermissionDenied, "you are %s on this cluster and may not act for %s", caller, username).
			WithReason(reasonMayNotActFor).
			WithHint("use `%s` as the username, or ask for the right to impersonate user %s", caller, username)
	}
	return user, nil
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

// Caller is the name that the API server has for the caller, made a username.
func (k Kubernetes) Caller(ctx context.Context) (string, error) {
	review, err := k.Client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", kube.Fault(err, kube.Call{Verb: "create", Resource: "selfsubjectreviews.authentication.k8s.io"})
	}
	return k.username(review.Status.UserInfo.Username), nil
}

func (k Kubernetes) username(name string) string {
	return Username(strings.TrimPrefix(name, k.StripPrefix))
}

// Custom leaves it to others: the API server keeps nobody's blueprints.
func (Kubernetes) Custom(context.Context, userstring.UserString) (*Custom, error) {
	return nil, errElsewhere
}

func (k Kubernetes) mayImpersonate(ctx context.Context, username string) (bool, error) {
	review, err := k.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "users", Name: username},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, kube.Fault(err, kube.Call{Verb: "create", Resource: "selfsubjectaccessreviews.authorization.k8s.io"})
	}
	return review.Status.Allowed, nil
}

// Username makes a username of a name on the cluster: the part before the @,
// lowered, of the characters that a user string allows. Nothing else is left
// out: system:serviceaccount:a:ci and :b:ci are two users.
func Username(name string) string {
	name, _, _ = strings.Cut(name, "@")
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		default:
			return '-'
		}
	}, strings.ToLower(name))
	return strings.Trim(name, "-")
}
