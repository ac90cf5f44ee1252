package serve

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"math"
	"net/netip"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/serve/token"
)

// How long the API server's answers hold, as in the kubelet; a refused token holds just long enough that a client in a
// loop costs nothing.
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

// How tokens wait for a review. Those that wait leave room for others in Limits.Open.
const (
	waitFor     = 10 * time.Second
	signedOnce  = 16 // reviews at once of tokens that the cluster has signed
	signedRoom  = 128
	unknownOnce = 8 // and of others
	unknownRoom = 64
	metFor      = 24 * time.Hour
)

// errBusy is that of a token whose turn for a review did not come.
var errBusy = errors.New("too many tokens are to be reviewed")

// User is who sends a request, as the API server knows them.
type User = authenticationv1.UserInfo

// Authenticator asks the API server whose token a request has (TokenReview).
//
// A token that cannot be one of the cluster is refused without a question. One that a key of the cluster has signed is
// asked about at once, whatever others send. All others share a budget of questions in turns, see flow.
//
// It does the work of k8s.io/apiserver's delegating authenticator. Linked, that one would make the program 9 MB larger
// and initialize 1.4 MB at every start of a client (CEL once more, gRPC, OpenTelemetry); its token cache alone 1.6 MB
// and 0.4 MB. So the caches are apimachinery's, which client-go brings along.
type Authenticator struct {
	reviews        authentication.TokenReviewInterface
	keys           *token.Source // nil if the cluster's keys are not known
	now            func() time.Time
	key            [32]byte // of the hashes under which tokens are kept
	valid, refused *cache.LRUExpireCache
	met            *cache.LRUExpireCache // issuers, and subjects of them, that had a valid token
	asking         singleflight.Group
	signed         token.Queue
	unknown        token.Queue
	budget         *rate.Limiter // of reviews of unknown tokens
}

// NewAuthenticator makes an authenticator; now is the clock of its caches. Of tokens that the cluster may or may not
// accept, it asks about as many in a second as the limits say.
func NewAuthenticator(client authentication.TokenReviewsGetter, limits Limits, now func() time.Time) *Authenticator {
	kept := func() *cache.LRUExpireCache { return cache.NewLRUExpireCacheWithClock(maxAnswers, clock(now)) }
	a := &Authenticator{
		reviews: client.TokenReviews(), now: now, valid: kept(), refused: kept(), met: kept(),
		signed:  token.Queue{AtOnce: signedOnce, Room: signedRoom},
		unknown: token.Queue{AtOnce: unknownOnce, Room: unknownRoom},
		budget:  rate.NewLimiter(rate.Limit(limits.Reviews), int(math.Ceil(limits.Reviews))),
	}
	_, _ = rand.Read(a.key[:]) // never fails
	return a
}

// Verifying makes it verify signatures with the keys of the cluster, which get fetches from a path of the API server:
// at once, so that the first tokens need not wait for them.
func (a *Authenticator) Verifying(ctx context.Context,
	get func(ctx context.Context, path string) ([]byte, error),
) *Authenticator {
	a.keys = &token.Source{Get: get, Now: a.now}
	a.keys.Refresh(ctx)
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

// User is whose token it is that comes from an address. Valid is false for a token that the API server does not accept;
// an error says that it could not be asked, errBusy that others are first.
func (a *Authenticator) User(ctx context.Context, raw, address string) (user User, valid bool, err error) {
	hash := a.hash(raw)
	if answer, known := a.known(hash); known {
		return answer.user, answer.valid, nil
	}
	read := token.Read(raw, a.now(), a.clusterKeys(ctx))
	if read.Stranger {
		a.keys.Refresh(ctx)
	}
	if read.Verdict == token.Refused {
		return User{}, false, nil
	}
	queue, flow := a.flow(read, address)
	waiting, cancel := context.WithTimeoutCause(ctx, waitFor, errBusy)
	defer cancel()
	leave, err := queue.Enter(waiting, flow)
	if err != nil {
		return User{}, false, busyOr(err)
	}
	defer leave()
	if answer, known := a.known(hash); known { // somebody else had the same
		return answer.user, answer.valid, nil
	}
	if queue == &a.unknown && a.budget.Wait(waiting) != nil {
		return User{}, false, busyOr(context.Cause(ctx))
	}
	answer, err := once(ctx, &a.asking, hash, func(ctx context.Context) (identity,
		error,
	) {
		return a.ask(ctx, raw, read)
	})
	return answer.user, answer.valid, err
}

// busyOr is the end of a request that waited, or that others were first.
func busyOr(err error) error {
	if err == nil || errors.Is(err, token.ErrFull) {
		return errBusy
	}
	return err
}

func (a *Authenticator) known(hash string) (answer identity, known bool) {
	for _, answers := range []*cache.LRUExpireCache{a.valid, a.refused} {
		if found, ok := answers.Get(hash); ok {
			answer, known = found.(identity)
			return answer, known
		}
	}
	return identity{}, false
}

func (a *Authenticator) clusterKeys(ctx context.Context) token.Keys {
	if a.keys == nil {
		return token.Keys{}
	}
	return a.keys.Keys(ctx)
}

// flow is whose share of the reviews a token takes. Each subject that the cluster has signed for has one, in a queue of
// their own. What anybody can write into a token proves nothing, so those shares are the address's: one for tokens that
// say nothing, one for JWTs, and one for each issuer, and each subject, of which a token was valid in the last day.
func (a *Authenticator) flow(read token.Token, address string) (queue *token.Queue, flow string) {
	issuer, subject := a.hash("issuer", read.Issuer), a.hash("subject", read.Issuer, read.Subject)
	address = network(address)
	switch {
	case read.Verdict == token.Signed:
		return &a.signed, subject
	case !read.JWT:
		return &a.unknown, address
	case has(a.met, subject):
		return &a.unknown, address + " " + subject
	case has(a.met, issuer):
		return &a.unknown, address + " " + issuer
	}
	return &a.unknown, address + " JWT"
}

func has(c *cache.LRUExpireCache, key string) bool {
	_, ok := c.Get(key)
	return ok
}

// network is what somebody has who has an address: of IPv6 it is a /64.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return address
	}
	prefix, _ := ip.WithZone("").Prefix(64) // never fails for IPv6
	return prefix.String()
}

func (a *Authenticator) ask(ctx context.Context, raw string, read token.Token) (identity, error) {
	review, err := a.reviews.Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: raw},
	}, metav1.CreateOptions{})
	if err != nil {
		return identity{}, kube.Fault(err, kube.Call{Verb: "create", Resource: "tokenreviews.authentication.k8s.io"})
	}
	if !review.Status.Authenticated || review.Status.User.Username == "" {
		a.refused.Add(a.hash(raw), identity{}, refusedFor)
		return identity{}, nil
	}
	answer := identity{user: review.Status.User, valid: true}
	a.valid.Add(a.hash(raw), answer, authenticatedFor)
	if read.JWT {
		a.met.Add(a.hash("issuer", read.Issuer), nil, metFor)
		a.met.Add(a.hash("subject", read.Issuer, read.Subject), nil, metFor)
	}
	return answer, nil
}

// hash is what a token, or what it says, is kept under: the memory of the process holds no tokens but those of open
// requests.
func (a *Authenticator) hash(parts ...string) string {
	mac := hmac.New(sha256.New, a.key[:])
	for i, part := range parts {
		if i > 0 {
			mac.Write([]byte{0})
		}
		mac.Write([]byte(part))
	}
	return string(mac.Sum(nil))
}

// once asks once for all who ask the same at the same time. It outlives the one that came first, as others wait for the
// answer.
func once[T any](ctx context.Context, group *singleflight.Group, key string, ask func(context.Context) (T, error)) (T,
	error,
) {
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
