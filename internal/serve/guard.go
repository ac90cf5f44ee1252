package serve

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/fault"
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

// Protect puts itself in front of a handler: no token and no certificate, or a bad one, is answered with
// 401, a user who may not do what the request takes with 403, one who asks too often
// with 429. Whatever a known user asks for gets an audit line.
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
