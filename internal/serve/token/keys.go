package token

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// Keys are those that the cluster signs tokens of ServiceAccounts with.
type Keys struct {
	Issuer string
	ByID   map[string]crypto.PublicKey
}

// Where an API server publishes them. Every ServiceAccount may read both, unless an administrator has removed the
// ClusterRoleBinding system:service-account-issuer-discovery.
const (
	PathConfiguration = "/.well-known/openid-configuration"
	PathKeys          = "/openid/v1/jwks"
)

// When keys are fetched, and for how long.
const (
	keysFor      = 5 * time.Minute  // they are looked at again
	keysAgain    = 10 * time.Second // between two looks
	keysFirst    = time.Second      // and as long as there was no answer
	fetchTimeout = 5 * time.Second
)

// maxModulus is longer than that of any key in use, in bytes: a longer one would take long.
const maxModulus = 2 << 10

// Source fetches the keys of the cluster, and keeps them.
type Source struct {
	// Get is the answer of the API server to a path.
	Get func(ctx context.Context, path string) ([]byte, error)
	Now func() time.Time

	mu     sync.Mutex
	keys   Keys
	known  bool // there was an answer
	looked time.Time
	look   chan struct{} // closed at the end of the look that is under way; nil if there is none
}

// Keys are those of the cluster, as far as they are known; none if the API server does not tell them. A look is waited
// for only until there was an answer.
func (s *Source) Keys(ctx context.Context) Keys {
	s.mu.Lock()
	defer s.mu.Unlock()
	every := keysFor
	if !s.known {
		every = keysFirst
	}
	look := s.begin(ctx, every)
	if s.known || look == nil {
		return s.keys
	}
	s.mu.Unlock()
	select {
	case <-look:
	case <-ctx.Done():
	}
	s.mu.Lock()
	return s.keys
}

// Refresh looks for other keys, in the background and not too often.
func (s *Source) Refresh(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(ctx, keysAgain)
}

// begin begins a look unless one is under way, or the last one is not so long ago; mu is held.
func (s *Source) begin(ctx context.Context, every time.Duration) (look chan struct{}) {
	if s.look != nil || s.Now().Sub(s.looked) < every {
		return s.look
	}
	s.look = make(chan struct{})
	go s.fetch(context.WithoutCancel(ctx))
	return s.look
}

// fetch replaces the keys by those that the API server has. If it does not tell, they stay.
func (s *Source) fetch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	keys, err := s.get(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = s.Now()
	if err == nil {
		s.keys, s.known = keys, true
	}
	close(s.look)
	s.look = nil
}

func (s *Source) get(ctx context.Context) (Keys, error) {
	configuration, err := s.Get(ctx, PathConfiguration)
	if err != nil {
		return Keys{}, err
	}
	raw, err := s.Get(ctx, PathKeys)
	if err != nil {
		return Keys{}, err
	}
	return parseKeys(configuration, raw)
}

// parseKeys reads an OpenID configuration and a JSON Web Key Set (RFC 7517, 7518). Keys of kinds that Kubernetes does
// not sign with are left out.
func parseKeys(configuration, set []byte) (Keys, error) {
	var about struct {
		Issuer string `json:"issuer"`
	}
	if err := json.Unmarshal(configuration, &about); err != nil {
		return Keys{}, fmt.Errorf("invalid OpenID configuration: %w", err)
	}
	var all struct {
		Keys []jsonKey `json:"keys"`
	}
	if err := json.Unmarshal(set, &all); err != nil {
		return Keys{}, fmt.Errorf("invalid JSON Web Key Set: %w", err)
	}
	keys := Keys{Issuer: about.Issuer, ByID: map[string]crypto.PublicKey{}}
	for _, k := range all.Keys {
		if public := k.public(); public != nil && k.ID != "" {
			keys.ByID[k.ID] = public
		}
	}
	return keys, nil
}

// jsonKey is a public key of a set.
type jsonKey struct {
	ID    string `json:"kid"`
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	N     string `json:"n"`
	E     string `json:"e"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

// curve is one that Kubernetes signs with; nil for others.
func curve(name string) elliptic.Curve {
	switch name {
	case "P-256":
		return elliptic.P256()
	case "P-384":
		return elliptic.P384()
	case "P-521":
		return elliptic.P521()
	}
	return nil
}

// public is the key, nil if it is of another kind or invalid.
func (k jsonKey) public() crypto.PublicKey {
	switch k.Type {
	case "RSA":
		n, e := number(k.N), number(k.E)
		if n.Sign() == 0 || n.BitLen() > 8*maxModulus || e.BitLen() > 31 || e.Int64() < 2 {
			return nil
		}
		return &rsa.PublicKey{N: n, E: int(e.Int64())}
	case "EC":
		c := curve(k.Curve)
		if c == nil {
			return nil
		}
		size := (c.Params().BitSize + 7) / 8
		x, y := number(k.X), number(k.Y)
		if x.BitLen() > 8*size || y.BitLen() > 8*size {
			return nil
		}
		point := append([]byte{4}, x.FillBytes(make([]byte, size))...) // 4: both coordinates follow
		key, err := ecdsa.ParseUncompressedPublicKey(c, append(point, y.FillBytes(make([]byte, size))...))
		if err != nil { // not on the curve
			return nil
		}
		return key
	}
	return nil
}

// number is a big-endian number; 0 if there is none.
func number(text string) *big.Int {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(raw)
}
