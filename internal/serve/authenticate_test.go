package serve

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berthdev/berth/internal/serve/token"
)

const clusterIssuer = "https://kubernetes.default.svc"

// signer has the key of a cluster, or one of somebody else.
type signer struct{ *ecdsa.PrivateKey }

func newSigner(t *testing.T) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{key}
}

// jwt is a token of an issuer's subject that is valid for some time.
func (s signer) jwt(keyID, issuer, subject string, valid time.Duration) string {
	part := func(v any) string {
		raw, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	text := part(map[string]string{"alg": "ES256", "kid": keyID}) + "." +
		part(map[string]any{"iss": issuer, "sub": subject, "exp": time.Now().Add(valid).Unix()})
	sum := sha256.Sum256([]byte(text))
	r, v, _ := ecdsa.Sign(rand.Reader, s.PrivateKey, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)),
		v.FillBytes(make([]byte, 32))...))
}

// publish answers as an API server whose issuer has the key.
func (s signer) publish(_ context.Context, path string) ([]byte, error) {
	number := func(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
	switch path {
	case token.PathConfiguration:
		return json.Marshal(map[string]string{"issuer": clusterIssuer})
	case token.PathKeys:
		return json.Marshal(map[string]any{"keys": []map[string]string{{
			"kty": "EC", "kid": "own", "crv": "P-256", "alg": "ES256",
			"x": number(s.X.FillBytes(make([]byte, 32))), "y": number(s.Y.FillBytes(make([]byte, 32))),
		}}})
	}
	return nil, errors.New("not found")
}

// madeUp are tokens of every kind that somebody can make up without end.
func madeUp(other signer, i int) string {
	number := strconv.Itoa(i)
	switch i % 6 {
	case 0:
		return "opaque-" + number
	case 1:
		return fmt.Sprintf("%06d.%016d", i, i) // as a bootstrap token
	case 2:
		return other.jwt("own", clusterIssuer, "system:serviceaccount:team:"+number, time.Hour)
	case 3:
		return other.jwt("own", clusterIssuer, "system:serviceaccount:team:user-1", -time.Hour)
	case 4:
		return other.jwt("key-"+number, clusterIssuer, "system:serviceaccount:team:user-1", time.Hour)
	}
	return other.jwt("key-"+number, "https://"+number+".example.com", "alice", time.Hour)
}

// from sends a request from an address.
func from(ctx context.Context, handler http.Handler, address, bearer string) int {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/a", http.NoBody)
	r.RemoteAddr = address + ":1234"
	r.Header.Set("Authorization", "Bearer "+bearer)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code
}

// flood sends 1,000 made-up tokens a second from an address, until the end of ctx, and counts the answers.
func flood(ctx context.Context, all *sync.WaitGroup, handler http.Handler, other signer,
	address string,
) (answers *sync.Map) {
	answers = &sync.Map{}
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			all.Go(func() {
				n, _ := answers.LoadOrStore(from(context.WithoutCancel(ctx), handler, address, madeUp(other, i)),
					new(atomic.Int64))
				count, _ := n.(*atomic.Int64)
				count.Add(1)
			})
			time.Sleep(time.Millisecond)
		}
	})
	return answers
}

// Made-up tokens keep nobody out: neither those whom the cluster has signed a token for, from the same address, nor
// others of another address, nor those of an issuer that is known. They are few questions to the API server, and
// nothing is left of them.
func TestMadeUpTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, other, provider := newSigner(t), newSigner(t), newSigner(t)
		c := &cluster{takes: 2 * time.Millisecond}
		guard, _ := newGuard(c, DefaultLimits())
		guard.Authenticator.Verifying(t.Context(), own.publish)
		handler := guard.Protect(byPath, http.HandlerFunc(greet))
		valid := func(raw, name string) string {
			c.users.Store(raw, name)
			c.may.Store(name+" get /a", true)
			return raw
		}
		const office, home = "203.0.113.1", "203.0.113.2"
		const idp = "https://login.example.com"
		if code := from(t.Context(), handler, office,
			valid(provider.jwt("p", idp, "first", time.Hour), "first")); code != 200 {
			t.Fatalf("the answer is %d", code)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		answers := flood(ctx, &all, handler, other, office)
		time.Sleep(3 * time.Second)
		enters := func(what, address, raw string, within time.Duration) {
			all.Go(func() {
				begun := time.Now()
				if code := from(t.Context(), handler, address, raw); code != 200 || time.Since(begun) > within {
					t.Errorf("%s is answered with %d after %s", what, code, time.Since(begun))
				}
			})
		}
		for i := range 50 {
			name := fmt.Sprintf("system:serviceaccount:team:user-%d", i)
			enters(name, office, valid(own.jwt("own", clusterIssuer, name, time.Hour), name), time.Second)
			if i < 5 {
				enters("an opaque token of another address", home, valid("opaque-of-"+name, "opaque"+name), time.Second)
				enters("a token of a known issuer", office, valid(provider.jwt("p", idp, name, time.Hour), "idp"+name),
					5*time.Second)
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(3 * time.Second)
		cancel()
		all.Wait()
		// Some seconds of 50, those at once at first, and the valid ones.
		if n := c.authenticated.Load(); n > 10*50+50+61 {
			t.Errorf("%d questions", n)
		}
		answers.Range(func(code, n any) bool {
			if count, _ := n.(*atomic.Int64); code != 401 && code != 429 {
				t.Errorf("%d made-up tokens are answered with %d", count.Load(), code)
			}
			return true
		})
		for _, queue := range []*token.Queue{&guard.Authenticator.signed, &guard.Authenticator.unknown} {
			if queue.Len() != 0 {
				t.Errorf("%d still wait", queue.Len())
			}
		}
	})
}

// What cannot be a token of the cluster is no question; a key that has changed is found.
func TestOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after, other := newSigner(t), newSigner(t), newSigner(t)
		c := &cluster{}
		guard, _ := newGuard(c, DefaultLimits())
		publish := before.publish
		guard.Authenticator.Verifying(t.Context(),
			func(ctx context.Context, path string) ([]byte, error) { return publish(ctx, path) })
		handler := guard.Protect(byPath, http.HandlerFunc(greet))
		asked := func(what, raw string, want int64) {
			t.Helper()
			n := c.authenticated.Load()
			from(t.Context(), handler, "203.0.113.1", raw)
			synctest.Wait()
			if got := c.authenticated.Load() - n; got != want {
				t.Errorf("%s: %d questions, want %d", what, got, want)
			}
		}
		asked("signed by somebody else", other.jwt("own", clusterIssuer, "alice", time.Hour), 0)
		asked("expired", before.jwt("own", clusterIssuer, "alice", -time.Hour), 0)
		asked("signed", before.jwt("own", clusterIssuer, "alice", time.Hour), 1)
		asked("opaque", "opaque", 1)
		publish = func(ctx context.Context, path string) ([]byte, error) {
			raw, err := after.publish(ctx, path)
			return []byte(string(raw)), err
		}
		time.Sleep(6 * time.Minute)
		asked("signed with the key before", before.jwt("own", clusterIssuer, "bob", time.Hour), 1) // it is being looked
		asked("signed with the key before, later", before.jwt("own", clusterIssuer, "carol", time.Hour), 0)
		asked("signed with the key of now", after.jwt("own", clusterIssuer, "carol", time.Hour), 1)
	})
}

// Of an address of IPv6, somebody has 2^64.
func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "::ffff:192.0.2.1": "::ffff:192.0.2.1",
		"fe80::1%eth0": "fe80::/64", "not an address": "not an address",
	} {
		if got := network(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
