package serve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"golang.org/x/sync/singleflight"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/berthdev/berth/internal/kube"
)

// Access is what somebody wants to do: with an object of the API, or with a path.
type Access struct {
	Resource *authorizationv1.ResourceAttributes
	Path     *authorizationv1.NonResourceAttributes
}

// Get is the access to a path, for reading.
func Get(path string) Access {
	return Access{Path: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"}}
}

// String is the access for logs and refusals.
func (a Access) String() string {
	if r := a.Resource; r != nil {
		object := r.Resource
		if r.Group != "" {
			object += "." + r.Group
		}
		if r.Subresource != "" {
			object += "/" + r.Subresource
		}
		return kube.Call{Verb: r.Verb, Resource: object, Namespace: r.Namespace, Name: r.Name}.String()
	}
	if a.Path == nil {
		return ""
	}
	return a.Path.Verb + " " + a.Path.Path
}

// Authorizer asks the API server what a user may do (SubjectAccessReview). Authenticator says why it is not
// k8s.io/apiserver's.
type Authorizer struct {
	reviews authorization.SubjectAccessReviewInterface
	known   *cache.LRUExpireCache
	asking  singleflight.Group
	allowed time.Duration // how long an answer holds that allows
}

// NewAuthorizer makes an authorizer; now is the clock of its cache.
func NewAuthorizer(client authorization.SubjectAccessReviewsGetter, now func() time.Time) *Authorizer {
	return &Authorizer{
		reviews: client.SubjectAccessReviews(),
		known:   cache.NewLRUExpireCacheWithClock(maxAnswers, clock(now)), allowed: DefaultAllowedFor,
	}
}

// For is the authorizer, whose answers that allow hold for another time.
func (a *Authorizer) For(allowed time.Duration) *Authorizer {
	a.allowed = allowed
	return a
}

// Allowed reports whether a user may do something. An error says that the API server could not be asked.
func (a *Authorizer) Allowed(ctx context.Context, user User, access Access) (bool, error) {
	spec := authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups,
		ResourceAttributes: access.Resource, NonResourceAttributes: access.Path,
	}
	if len(user.Extra) > 0 {
		spec.Extra = make(map[string]authorizationv1.ExtraValue, len(user.Extra))
		for name, values := range user.Extra {
			spec.Extra[name] = authorizationv1.ExtraValue(values)
		}
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return false, err
	}
	// A hash is as long for any path that a client makes up.
	sum := sha256.Sum256(text)
	key := string(sum[:])
	if found, ok := a.known.Get(key); ok {
		allowed, _ := found.(bool)
		return allowed, nil
	}
	return once(ctx, &a.asking, key, func(ctx context.Context) (bool, error) { return a.ask(ctx, key, spec) })
}

func (a *Authorizer) ask(ctx context.Context, key string, spec authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	review, err := a.reviews.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return false, kube.Fault(err, kube.Call{Verb: "create", Resource: "subjectaccessreviews.authorization.k8s.io"})
	}
	allowed, holds := review.Status.Allowed && !review.Status.Denied, deniedFor
	if allowed {
		holds = a.allowed
	}
	a.known.Add(key, allowed, holds)
	return allowed, nil
}
