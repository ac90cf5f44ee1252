// Package token tells what can be told of a bearer token without asking the API server, and whose turn it is to ask.
package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	_ "crypto/sha256" // the hashes of the algorithms
	_ "crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"time"
)

// Verdict is what is known of a token offline.
type Verdict int

// The verdicts.
const (
	Unknown Verdict = iota // only the API server can say
	Signed                 // a key of the cluster has signed it; whether it still holds, the API server says
	Refused                // no API server of the cluster accepts it
)

// Token is what a token says of itself.
type Token struct {
	Verdict Verdict
	// JWT is false for a token of another form, which says nothing.
	JWT bool
	// Issuer and Subject are what a JWT claims. They are proven where Verdict is Signed.
	Issuer, Subject string
	// Stranger is true for a JWT of the cluster's issuer with a key that is not among Keys: it is made up, or the keys
	// have changed.
	Stranger bool
}

// leeway is how far the clocks of the cluster may be apart.
const leeway = 2 * time.Minute

// Read tells what a token is by itself, the time and the keys of the cluster. Tokens of other issuers, and of other
// forms, are Unknown: an API server can be told to accept any.
func Read(raw string, now time.Time, keys Keys) Token {
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return Token{}
	}
	var header struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
	}
	if !decode(parts[0], &header) || header.Algorithm == "" {
		return Token{}
	}
	refused := Token{Verdict: Refused, JWT: true}
	var claims struct {
		Issuer    string   `json:"iss"`
		Subject   string   `json:"sub"`
		Expires   *float64 `json:"exp"`
		NotBefore *float64 `json:"nbf"`
	}
	if strings.EqualFold(header.Algorithm, "none") || !decode(parts[1], &claims) {
		return refused
	}
	seconds := float64(now.Unix())
	if claims.Expires != nil && seconds > *claims.Expires+leeway.Seconds() ||
		claims.NotBefore != nil && seconds < *claims.NotBefore-leeway.Seconds() {
		return refused
	}
	found := Token{JWT: true, Issuer: claims.Issuer, Subject: claims.Subject}
	own := keys.Issuer != "" && claims.Issuer == keys.Issuer
	key, ok := keys.ByID[header.KeyID]
	switch {
	case !ok:
		found.Stranger = own
	case verifies(key, header.Algorithm, parts):
		found.Verdict = Signed
	case own:
		return refused
	}
	return found
}

// decode reads a part of a JWT, which is an object.
func decode(part string, into any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(raw, into) == nil
}

// hashOf is the hash of an algorithm that Kubernetes signs tokens with.
func hashOf(algorithm string) (hash crypto.Hash, known bool) {
	switch algorithm {
	case "RS256", "ES256":
		return crypto.SHA256, true
	case "ES384":
		return crypto.SHA384, true
	case "ES512":
		return crypto.SHA512, true
	}
	return 0, false
}

// verifies reports whether the last part is the signature of the first two.
func verifies(key crypto.PublicKey, algorithm string, parts []string) bool {
	kind, ok := hashOf(algorithm)
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if !ok || err != nil {
		return false
	}
	hash := kind.New()
	hash.Write([]byte(parts[0] + "." + parts[1]))
	sum := hash.Sum(nil)
	switch key := key.(type) {
	case *rsa.PublicKey:
		return algorithm == "RS256" && rsa.VerifyPKCS1v15(key, kind, sum, signature) == nil
	case *ecdsa.PublicKey:
		half := (key.Params().BitSize + 7) / 8
		if algorithm == "RS256" || len(signature) != 2*half {
			return false
		}
		return ecdsa.Verify(key, sum, new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:]))
	}
	return false
}
