package token

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const issuer = "https://kubernetes.default.svc.cluster.local"

func encode(v any) string {
	raw, _ := json.Marshal(v)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// sign makes a JWT as RFC 7515 and 7518 say.
func sign(t *testing.T, key crypto.Signer, header, claims map[string]any) string {
	t.Helper()
	text := encode(header) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	var signature []byte
	var err error
	switch key := key.(type) {
	case *rsa.PrivateKey:
		signature, err = rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	case *ecdsa.PrivateKey:
		r, s, failed := ecdsa.Sign(rand.Reader, key, sum[:])
		err, signature = failed, append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// published is what an API server publishes of its keys, as RFC 7517 says.
func published(r *rsa.PrivateKey, e *ecdsa.PrivateKey) func(context.Context, string) ([]byte, error) {
	number := func(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
	return func(_ context.Context, path string) ([]byte, error) {
		switch path {
		case "/.well-known/openid-configuration":
			return []byte(`{"issuer":"` + issuer + `","jwks_uri":"https://10.0.0.1:6443/openid/v1/jwks"}`), nil
		case "/openid/v1/jwks":
			return fmt.Appendf(nil, `{"keys":[
				{"use":"sig","kty":"RSA","kid":"r","alg":"RS256","n":%q,"e":"AQAB"},
				{"use":"sig","kty":"EC","kid":"e","crv":"P-256","alg":"ES256","x":%q,"y":%q},
				{"kty":"oct","kid":"secret","k":"AAAA"},{"kty":"EC","kid":"off","crv":"P-256","x":"AQ","y":"AQ"}]}`,
					number(r.N.Bytes()), number(e.X.FillBytes(make([]byte, 32))),
					number(e.Y.FillBytes(make([]byte, 32)))),
				nil
		}
		return nil, errors.New("not found")
	}
}

func newKeys(t *testing.T) (*rsa.PrivateKey, *ecdsa.PrivateKey) {
	t.Helper()
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return r, e
}

func TestRead(t *testing.T) {
	r, e := newKeys(t)
	other, otherE := newKeys(t)
	now := time.Now()
	keys := (&Source{Get: published(r, e), Now: time.Now}).Keys(t.Context())
	if len(keys.ByID) != 2 || keys.Issuer != issuer {
		t.Fatalf("the keys are %+v", keys)
	}
	claims := func(changes ...any) map[string]any {
		all := map[string]any{
			"iss": issuer, "sub": "system:serviceaccount:team:ci", "aud": []string{issuer},
			"exp": now.Add(time.Hour).Unix(), "nbf": now.Unix(), "iat": now.Unix(),
		}
		for i := 0; i < len(changes); i += 2 {
			name, _ := changes[i].(string)
			all[name] = changes[i+1]
		}
		return all
	}
	rs, es := map[string]any{"alg": "RS256", "kid": "r"}, map[string]any{"alg": "ES256", "kid": "e"}
	good := sign(t, r, rs, claims())
	for name, c := range map[string]struct {
		token string
		keys  Keys
		want  Verdict
	}{
		"signed with RSA":   {good, keys, Signed},
		"signed with ECDSA": {sign(t, e, es, claims()), keys, Signed},
		"of another issuer of the cluster": {
			sign(t, r, rs, claims("iss", "kubernetes/serviceaccount")), keys,
			Signed,
		},
		"without an end": {sign(t, r, rs, claims("exp", nil)), keys, Signed},
		"expired within the leeway": {
			sign(t, r, rs, claims("exp", now.Add(-time.Minute).Unix())), keys,
			Signed,
		},
		"expired": {
			sign(t, r, rs, claims("exp", now.Add(-3*time.Minute).Unix())), keys,
			Refused,
		},
		"not valid yet": {
			sign(t, r, rs, claims("nbf", now.Add(3*time.Minute).Unix())), keys,
			Refused,
		},
		"signed by somebody else":            {sign(t, other, rs, claims()), keys, Refused},
		"signed by somebody else with ECDSA": {sign(t, otherE, es, claims()), keys, Refused},
		"another algorithm than the key's": {
			sign(t, e, map[string]any{"alg": "ES256", "kid": "r"}, claims()),
			keys, Refused,
		},
		"a secret as the key, which is public": {
			sign(t, r, map[string]any{"alg": "HS256", "kid": "r"}, claims()),
			keys, Refused,
		},
		"changed": {strings.Replace(good, ".", ".e30", 1), keys, Refused},
		"not signed": {
			encode(map[string]any{"alg": "none"}) + "." + encode(claims()) + ".",
			keys, Refused,
		},
		"no claims":             {encode(rs) + ".x.y", keys, Refused},
		"claims of other types": {sign(t, r, rs, claims("exp", "tomorrow")), keys, Refused},
		"expired, of an identity provider": {sign(t, other, map[string]any{"alg": "RS256", "kid": "x"},
			claims("iss", "https://login.example.com", "exp", 1)), keys, Refused},
		"of an identity provider": {sign(t, other, map[string]any{"alg": "RS256", "kid": "x"},
			claims("iss", "https://login.example.com")), keys, Unknown},
		"of an identity provider with our key's ID": {
			sign(t, other, rs, claims("iss", "https://login.example.com")), keys,
			Unknown,
		},
		"a key that is not known": {sign(t, other, map[string]any{"alg": "RS256", "kid": "new"},
			claims()), keys, Unknown},
		"no keys are known":     {good, Keys{}, Unknown},
		"a bootstrap token":     {"abcdef.0123456789abcdef", keys, Unknown},
		"opaque":                {"s3cr3t", keys, Unknown},
		"opaque, with two dots": {"a.b.c", keys, Unknown},
		"empty":                 {"", keys, Unknown},
	} {
		got := Read(c.token, now, c.keys)
		if got.Verdict != c.want {
			t.Errorf("%s: the verdict is %d, want %d", name, got.Verdict, c.want)
		}
		if got.Stranger != (name == "a key that is not known") {
			t.Errorf("%s: Stranger is %t", name, got.Stranger)
		}
	}
}

// An API server that does not answer at first is asked again soon, and a look that is under way is waited for.
func TestFirstKeys(t *testing.T) {
	r, e := newKeys(t)
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		down.Store(true)
		answer := published(r, e)
		s := &Source{Now: time.Now, Get: func(ctx context.Context, path string) ([]byte, error) {
			if down.Load() {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			time.Sleep(time.Second)
			return answer(ctx, path)
		}}
		if keys := s.Keys(t.Context()); len(keys.ByID) > 0 {
			t.Errorf("the keys are %+v", keys)
		}
		down.Store(false)
		time.Sleep(keysFirst)
		for range 2 {
			if keys := s.Keys(t.Context()); len(keys.ByID) != 2 {
				t.Errorf("the keys are %+v", keys)
			}
		}
	})
}

// Keys that change are found by a token of the new one, and not looked for without end; an API server that does not
// answer takes away none.
func TestKeys(t *testing.T) {
	r, e := newKeys(t)
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		var down atomic.Bool
		answer := published(r, e)
		s := &Source{Now: time.Now, Get: func(ctx context.Context, path string) ([]byte, error) {
			asked.Add(1)
			if down.Load() {
				return nil, errors.New("forbidden")
			}
			return answer(ctx, path)
		}}
		looks := func(want int64) {
			t.Helper()
			synctest.Wait()
			if n := asked.Swap(0); n != want {
				t.Errorf("%d questions, want %d", n, want)
			}
		}
		s.Keys(t.Context())
		looks(2)
		for range 100 {
			s.Refresh(t.Context())
		}
		looks(0)
		time.Sleep(keysAgain)
		for range 100 {
			s.Refresh(t.Context())
		}
		looks(2)
		down.Store(true)
		time.Sleep(keysFor)
		s.Keys(t.Context())
		looks(1)
		if keys := s.Keys(t.Context()); len(keys.ByID) != 2 {
			t.Errorf("the keys are %+v", keys)
		}
	})
}
