package sigstore

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
)

// Verifies says whether a signature of a text is of a key. As in cosign the hash is SHA-256, or that of the curve.
func Verifies(public crypto.PublicKey, text, signature []byte) bool {
	sum := sha256.Sum256(text)
	switch public := public.(type) {
	case *ecdsa.PublicKey:
		if ecdsa.VerifyASN1(public, sum[:], signature) {
			return true
		}
		switch bits := public.Curve.Params().BitSize; {
		case bits > 384:
			longer := sha512.Sum512(text)
			return ecdsa.VerifyASN1(public, longer[:], signature)
		case bits > 256:
			longer := sha512.Sum384(text)
			return ecdsa.VerifyASN1(public, longer[:], signature)
		}
	case ed25519.PublicKey:
		return ed25519.Verify(public, text, signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], signature) == nil
	}
	return false
}
