package serve

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Guard lets those in who may do what they ask for.
type Guard struct {
	Authenticator *Authenticator
	// ClientCA are the authorities of client certificates; nil where only tokens are taken.
	ClientCA   *ClientCA
	Authorizer *Authorizer
	Limits     *Limiter
	Log        *slog.Logger
	Now        func() time.Time
}

// Protect puts itself in front of a handler: no token and no certificate, or a bad one, is answered with 401, a user
// who may not do what the request takes with 403, one who asks too often with 429. Whatever a known user asks for gets
// an audit line.
func (g *Guard) Protect(takes func(*http.Request) Access, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, ok := g.authenticate(w, r)
		if !ok {
			return
		}
		access, answer, begun := takes(r), &recorder{ResponseWriter: w}, g.Now()
		defer func() { //nolint:contextcheck // the answer is the request's
			g.Log.LogAttrs(r.Context(), slog.LevelInfo, "audit", audit(r, user, access, answer, g.Now().Sub(begun))...)
		}()
		done, wait := g.Limits.Enter(user.Username)
		if wait > 0 {
			tooMany(answer, r, wait)
			return
		}
		defer done()
		switch allowed, err := g.Authorizer.Allowed(r.Context(), user, access); {
		case err != nil:
			g.unavailable(answer, r, err)
		case !allowed:
			Refuse(answer, r, http.StatusForbidden, user.Username+" may not "+access.String())
		default:
			next.ServeHTTP(answer, r.WithContext(withCaller(r.Context(), Caller{User: user, Access: access})))
		}
	})
}

// authenticate says who sends a request, or answers it.
func (g *Guard) authenticate(w http.ResponseWriter, r *http.Request) (User, bool) {
	token := bearer(r)
	if token == "" {
		return g.certified(w, r)
	}
	user, valid, err := g.Authenticator.User(r.Context(), token, host(r.RemoteAddr))
	switch {
	case errors.Is(err, errBusy), err != nil && r.Context().Err() != nil: // the latter reads nothing
		tooMany(w, r, busy)
	case err != nil:
		g.unavailable(w, r, err)
	case !valid:
		unauthenticated(w, r, "the token is not valid")
	}
	return user, valid && err == nil
}

// certified says who sends a request without a token, by its certificate, or answers it.
func (g *Guard) certified(w http.ResponseWriter, r *http.Request) (User, bool) {
	user, presented, valid := g.ClientCA.User(r.TLS)
	switch {
	case valid:
	case presented:
		unauthenticated(w, r, "the client certificate is not valid")
	case g.ClientCA != nil:
		unauthenticated(w, r, "a token or a client certificate is required")
	default:
		unauthenticated(w, r, "a token is required")
	}
	return user, valid
}

// maxToken is longer than any token that an API server takes.
const maxToken = 16 << 10

// bearer is the token of a request; empty if it has none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || len(token) > maxToken {
		return ""
	}
	return token
}

func (g *Guard) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	g.Log.LogAttrs(r.Context(), slog.LevelError, "the API server could not be asked",
		slog.String("error", fault.Line(err.Error())))
	w.Header().Set("Retry-After", "5")
	Refuse(w, r, http.StatusServiceUnavailable, "the API server could not be asked; try again")
}

func unauthenticated(w http.ResponseWriter, r *http.Request, why string) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="berth"`)
	Refuse(w, r, http.StatusUnauthorized, why)
}

// Caller is who a request was let in for, and to what.
type Caller struct {
	User   User
	Access Access
}

type callerKey struct{}

func withCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf is the caller of a request that a Guard has let in.
func CallerOf(ctx context.Context) (c Caller, known bool) {
	c, known = ctx.Value(callerKey{}).(Caller)
	return c, known
}

// Refuse answers with a status and one line that says why. A request for another protocol is that of a client of
// Kubernetes, which reads a Status.
func Refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	why = fault.Line(why)
	if r.Header.Get("Upgrade") == "" {
		http.Error(w, why, status)
		return
	}
	RefuseWith(w, metav1.Status{
		Status: metav1.StatusFailure, Message: why, Reason: reason(status),
		Code: int32(status),
	}) //nolint:gosec // a status of HTTP
}

// RefuseWith answers with a Status. Its group tells clients that it is berth's answer, and not that of a proxy on the
// way which knows only older protocols.
func RefuseWith(w http.ResponseWriter, status metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	status.Details = &metav1.StatusDetails{Group: kube.Group}
	if wait, err := strconv.ParseInt(w.Header().Get("Retry-After"), 10, 32); err == nil {
		status.Details.RetryAfterSeconds = int32(wait) // for those who get no headers of a refused WebSocket
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}

// reason is what clients tell a status by.
func reason(status int) metav1.StatusReason {
	switch status {
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	case http.StatusMethodNotAllowed:
		return metav1.StatusReasonMethodNotAllowed
	}
	return metav1.StatusReasonUnknown
}

// Limits are how much is served at once, and how often.
type Limits struct {
	Open          int     // requests of all callers, once it is known whose they are
	OpenPerCaller int     // requests of one
	Rate          float64 // requests of one caller in a second, in the long run
	Burst         int     // and at once
	// Reviews is how many tokens are looked at in a second that the cluster has not signed, in turns of the addresses
	// that they come from.
	Reviews float64
}

// DefaultLimits are those of every role.
func DefaultLimits() Limits {
	return Limits{Open: 256, OpenPerCaller: 32, Rate: 20, Burst: 60, Reviews: 50}
}

// limitersFor is how long the rate of a caller is remembered.
const limitersFor = 10 * time.Minute

// Limiter keeps the callers within the limits.
type Limiter struct {
	limits Limits
	now    func() time.Time
	all    chan struct{}

	mu    sync.Mutex
	open  map[string]int // by caller, without those at 0
	rates *cache.LRUExpireCache
}

// NewLimiter makes a limiter.
func NewLimiter(limits Limits, now func() time.Time) *Limiter {
	return &Limiter{
		limits: limits, now: now, all: make(chan struct{}, limits.Open),
		open: map[string]int{}, rates: cache.NewLRUExpireCacheWithClock(maxAnswers, clock(now)),
	}
}

// busy is after how long somebody may try again who met the limit of open requests.
const busy = time.Second

// Enter counts a request of a caller. If there is one too many, it returns how long to wait; otherwise done has to be
// called at its end.
func (l *Limiter) Enter(caller string) (done func(), wait time.Duration) {
	if wait := l.take("user "+caller, l.limits.Rate, l.limits.Burst); wait > 0 {
		return nil, wait
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[caller] >= l.limits.OpenPerCaller {
		return nil, busy
	}
	select {
	case l.all <- struct{}{}:
	default:
		return nil, busy
	}
	l.open[caller]++
	return func() { l.leave(caller) }, 0
}

func (l *Limiter) leave(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	<-l.all
	l.open[caller]--
	if l.open[caller] <= 0 {
		delete(l.open, caller)
	}
}

func (l *Limiter) take(key string, perSecond float64, burst int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, _ := l.rates.Get(key)
	limiter, ok := found.(*rate.Limiter)
	if !ok {
		limiter = rate.NewLimiter(rate.Limit(perSecond), burst)
	}
	l.rates.Add(key, limiter, limitersFor)
	now := l.now()
	reservation := limiter.ReserveN(now, 1)
	if !reservation.OK() {
		return busy
	}
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

// tooMany answers with 429, and says when to try again.
func tooMany(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	Refuse(w, r, http.StatusTooManyRequests, "too many requests")
}
