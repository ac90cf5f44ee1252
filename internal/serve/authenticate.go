package serve

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"golang.org/x/sync/singleflight"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// How long the API server's answers hold, as in the kubelet; a refused token holds
// just long enough that a client in a loop costs nothing.
const (
	authenticatedFor = 2 * time.Minute
	refusedFor       = 10 * time.Second
	deniedFor        = 30 * time.Second

	// DefaultAllowedFor is for what is allowed.
	DefaultAllowedFor = 5 * time.Minute
)

// maxAnswers is how many answers of each kind are kept; the least used go first.
const maxAnswers = 4096

// reviewTimeout is how long the API server may take for an answer.
const reviewTimeout = 10 * time.Second

// User is who sends a request, as the API server knows them.
type User = authenticationv1.UserInfo

// Authenticator asks the API server whose token a request has (TokenReview).
//
// It does the work of k8s.io/apiserver's delegating authenticator. Linked, that one
// would make the program 9 MB larger and initialize 1.4 MB at every start of a
// client (CEL once more, gRPC, OpenTelemetry); its token cache alone 1.6 MB and
// 0.4 MB. So the caches are apimachinery's, which client-go brings along.
type Authenticator struct {
	reviews authentication.TokenReviewInterface
	key     [32]byte // of the hashes under which tokens are kept
	known   *cache.LRUExpireCache
	asking  singleflight.Group
}

// NewAuthenticator makes an authenticator; now is the clock of its cache.
func NewAuthenticator(client authentication.TokenReviewsGetter, now func() time.Time) *Authenticator {
	a := &Authenticator{reviews: client.TokenReviews(), known: cache.NewLRUExpireCacheWithClock(maxAnswers, clock(now))}
	_, _ = rand.Read(a.key[:]) // never fails
	return a
}

// clock is a function as the cache's clock.
type clock func() time.Time

// Now is the time.
func (c clock) Now() time.Time { return c() }

// identity is the answer about a token.
type identity struct {
	user  User
	valid bool
}

// Known reports whether there is an answer about a token already.
func (a *Authenticator) Known(token string) (known bool) {
	_, known = a.known.Get(a.hash(token))
	return known
}

// User is whose token it is. Valid is false for a token that the API server does not
// accept; an error says that it could not be asked.
func (a *Authenticator) User(ctx context.Context, token string) (user User, valid bool, err error) {
	hash := a.hash(token)
	if found, ok := a.known.Get(hash); ok {
		answer, _ := found.(identity)
		return answer.user, answer.valid, nil
	}
	answer, err := once(ctx, &a.asking, hash, func(ctx context.Context) (identity, error) { return a.ask(ctx, token) })
	return answer.user, answer.valid, err
}

func (a *Authenticator) ask(ctx context.Context, token string) (identity, error) {
	review, err := a.reviews.Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token},
	}, metav1.CreateOptions{})
	if err != nil {
		return identity{}, kube.Fault(err, kube.Call{Verb: "create", Resource: "tokenreviews.authentication.k8s.io"})
	}
	answer, holds := identity{}, refusedFor
	if review.Status.Authenticated && review.Status.User.Username != "" {
		answer, holds = identity{user: review.Status.User, valid: true}, authenticatedFor
	}
	a.known.Add(a.hash(token), answer, holds)
	return answer, nil
}

// hash is what a token is kept under: the memory of the process holds no tokens but
// those of open requests.
func (a *Authenticator) hash(token string) string {
	mac := hmac.New(sha256.New, a.key[:])
	mac.Write([]byte(token))
	return string(mac.Sum(nil))
}

// once asks once for all who ask the same at the same time. It outlives the one that
// came first, as others wait for the answer.
func once[T any](ctx context.Context, group *singleflight.Group, key string, ask func(context.Context) (T, error)) (T, error) {
	answers := group.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
		defer cancel()
		return ask(ctx)
	})
	select {
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	case answer := <-answers:
		value, _ := answer.Val.(T)
		if answer.Err != nil && fault.CodeOf(answer.Err) == fault.Internal {
			return value, fault.New(fault.Unavailable, "the API server did not answer: %w", answer.Err)
		}
		return value, answer.Err
	}
}
