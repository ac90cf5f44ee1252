package provider

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// cluster knows the caller as the API server does. A caller may act for another
// user if the cluster lets them impersonate that user.
type cluster struct {
	client      kube.Interface
	stripPrefix string // of what the API server calls the caller: oidc:
	// self is the user that the caller's credentials name, see kube.Self. It only decides what is asked first.
	self string
}

// Resolve asks who the caller is, or whether the caller may impersonate username. One of the two is usually enough, and
// the credentials tell which; if they do not, both are asked concurrently.
func (c cluster) Resolve(ctx context.Context, username string) (identity.User, error) {
	var name, caller string
	var allowed bool
	isCaller := func(ctx context.Context) (err error) {
		name, err = c.callerName(ctx)
		caller = c.username(name)
		return err
	}
	mayActFor := func(ctx context.Context) (err error) {
		allowed, err = c.mayImpersonate(ctx, username)
		return err
	}
	decided := func() bool { return allowed || name != "" && caller == username }
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
		return identity.User{}, c.notYours(caller, username)
	}
	user := identity.NewUser(username, KindKubernetes)
	if user.Name = name; caller != username {
		user.Name, _ = c.name(username)
	}
	return user, nil
}

// Former returns an error if berth once took the caller for the user of that name, who can be somebody else. A cluster
// that does not say who the caller is refuses nothing: its RBAC decides who may do what.
func Former(client kube.Interface) func(ctx context.Context, username string) error {
	c := cluster{client: client}
	return func(ctx context.Context, username string) error {
		caller, err := c.Caller(ctx)
		if err != nil || username == caller || username != formerly(caller) {
			return nil //nolint:nilerr // see above
		}
		return c.notYours(caller, username)
	}
}

// notYours says who the caller is, and what has become of the workspaces that berth made for
// them when it took the same part of several names for a username.
func (c cluster) notYours(caller, username string) error {
	own, asked := userstring.Owner(caller), userstring.Owner(username)
	err := fault.New(fault.PermissionDenied, "you are %s on this cluster and may not act for %s", own, asked).
		WithReason(identity.ReasonMayNotActFor)
	if username == formerly(caller) {
		return err.WithHint("your user string is now %s; a workspace of %s that was yours has to be handed over, "+
			"since others had that username, too: docs/identity.md says how", fault.Word(own), asked)
	}
	if name, ok := c.name(username); ok {
		return err.WithHint("use %s as the username, or ask for permission to impersonate user %s", fault.Word(own),
			fault.Word(name))
	}
	return err.WithHint("use %s as the username", fault.Word(own))
}

// formerly is the username that berth once made of this one: others had the same.
func formerly(username string) string {
	name, _, _ := strings.Cut(username, "@")
	return strings.Trim(strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(name)), "-")
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
	name, err := c.callerName(ctx)
	if err != nil {
		return "", err
	}
	return c.username(name), nil
}

func (c cluster) callerName(ctx context.Context) (string, error) {
	review, err := c.client.AuthenticationV1().SelfSubjectReviews().
		Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", kube.Fault(err, kube.Call{Verb: "create", Resource: "selfsubjectreviews.authentication.k8s.io"})
	}
	return review.Status.UserInfo.Username, nil
}

func (c cluster) mayImpersonate(ctx context.Context, username string) (bool, error) {
	name, ok := c.name(username)
	if !ok {
		return false, nil // whom nobody can be
	}
	review, err := c.client.AuthorizationV1().SelfSubjectAccessReviews().
		Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: impersonating(name),
			},
		}, metav1.CreateOptions{})
	if err != nil {
		return false, kube.Fault(err, kube.Call{
			Verb: "create", Resource: "selfsubjectaccessreviews.authorization.k8s.io",
		})
	}
	return review.Status.Allowed, nil
}

// impersonating is what the API server asks of who impersonates a user: a ServiceAccount is an object of its namespace.
func impersonating(name string) *authorizationv1.ResourceAttributes {
	if account, ok := strings.CutPrefix(name, builtIn+"serviceaccount:"); ok {
		namespace, account, _ := strings.Cut(account, ":")
		if len(validation.IsDNS1123Label(namespace)) == 0 && len(validation.IsDNS1123Subdomain(account)) == 0 {
			return &authorizationv1.ResourceAttributes{
				Verb: "impersonate", Resource: "serviceaccounts", Namespace: namespace,
				Name: account,
			}
		}
	}
	return &authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "users", Name: name}
}

const (
	// builtIn begins the names that Kubernetes itself gives.
	builtIn = "system:"
	// unprefixed begins the usernames of callers without the prefix that is stripped.
	unprefixed = ":"
)

// username is the username of a user of the cluster: no two have the same. Without the prefix that is stripped, alice
// would be oidc:alice: a colon tells them apart. A name that would be taken for another without its prefix keeps it.
func (c cluster) username(name string) string {
	rest, has := strings.CutPrefix(name, c.stripPrefix)
	switch {
	case c.stripPrefix == "":
	case has && rest != "" && !c.isAmbiguous(rest):
		name = rest
	case !has && !strings.HasPrefix(name, builtIn):
		name = unprefixed + name
	}
	return userstring.Username(name)
}

// isAmbiguous is true for what is left of a name and looks like one that was not stripped.
func (c cluster) isAmbiguous(rest string) bool {
	return strings.HasPrefix(rest, c.stripPrefix) || strings.HasPrefix(rest, builtIn) ||
		strings.HasPrefix(rest, unprefixed)
}

// name is that of the user of the cluster who has the username; false if nobody can have it,
// or the username does not say: it may have been too long.
func (c cluster) name(username string) (name string, ok bool) {
	for _, name := range []string{c.stripPrefix + username, strings.TrimPrefix(username, unprefixed), username} {
		if c.username(name) == username {
			return name, true
		}
	}
	return "", false
}
