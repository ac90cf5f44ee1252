package serve

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/cache"
)

// Limits are how much is served at once, and how often.
type Limits struct {
	Open          int     // requests of all callers, once it is known whose they are
	OpenPerCaller int     // requests of one
	Rate          float64 // requests of one caller in a second, in the long run
	Burst         int     // and at once
	// Reviews is how many tokens are looked at in a second that the cluster has not signed,
	// in turns of the addresses that they come from.
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
	open  map[string]int // by caller; none is 0
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

// Enter counts a request of a caller. If there is one too many, it returns how long
// to wait; otherwise done has to be called at its end.
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
