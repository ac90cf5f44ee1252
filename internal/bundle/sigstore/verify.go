package sigstore

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	ct "github.com/google/certificate-transparency-go"
	"github.com/google/certificate-transparency-go/ctutil"
	ctx509 "github.com/google/certificate-transparency-go/x509"
	"github.com/google/certificate-transparency-go/x509util"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

const (
	maxCertificate = 64 << 10 // bytes
	maxEntries     = 16
	maxTimestamps  = 4
	maxTimestamp   = 16 << 10 // bytes
	maxRSA         = 8 << 10  // bits
	maxSCTs        = 16
)

// Parse reads the certificate of a signature. A key that takes long to verify with is refused: nobody has vouched for
// it when its signature is verified.
func (s *Signed) Parse() (*x509.Certificate, error) {
	if len(s.Certificate) > maxCertificate {
		return nil, fmt.Errorf("its certificate has more than %d KiB", maxCertificate>>10)
	}
	c, err := x509.ParseCertificate(s.Certificate)
	if err != nil {
		return nil, errors.New("its certificate is not valid")
	}
	if key, ok := c.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() > maxRSA {
		return nil, fmt.Errorf("its certificate has a key of more than %d bits", maxRSA)
	}
	return c, nil
}

// Verify finds out by whom it was signed. It takes a certificate of an authority that is trusted and that is logged,
// an entry of the signature in a log that is trusted, and a time at which it was made: of the log, or of a timestamp.
// The certificate and the key of each log have to be valid at each of these times. Without all of that there is no
// signer.
func Verify(s *Signed, trusted root.TrustedMaterial) (Signer, error) {
	leaf, err := s.Parse()
	if err != nil {
		return Signer{}, err
	}
	who, err := SignerOf(leaf)
	if err != nil {
		return Signer{}, errors.New("its certificate does not say to whom it was issued")
	}
	if !Verifies(leaf.PublicKey, s.Text, s.Signature) {
		return Signer{}, errors.New("it is not of the key of its certificate")
	}
	times, err := s.times(leaf, trusted)
	if err != nil {
		return Signer{}, err
	}
	// Go reads no name of the kind otherName, which Fulcio makes of user names; SignerOf does.
	leaf.UnhandledCriticalExtensions = slices.DeleteFunc(leaf.UnhandledCriticalExtensions, cryptoutils.SANOID.Equal)
	var chains [][]*x509.Certificate
	for _, at := range times {
		if chains, err = chainsAt(leaf, at, trusted); err != nil {
			return Signer{}, err
		}
	}
	if err := certificateLogged(leaf, chains, trusted); err != nil {
		return Signer{}, err
	}
	return who, nil
}

// times are those at which it was made, as logs and timestamps say: there is one, and the keys of its logs were valid
// at each of them.
func (s *Signed) times(leaf *x509.Certificate, trusted root.TrustedMaterial) ([]time.Time, error) {
	logs, times, err := s.logged(leaf, trusted)
	if err != nil {
		return nil, err
	}
	stamped, err := s.stamped(trusted)
	if err != nil {
		return nil, err
	}
	times = append(times, stamped...)
	if len(times) == 0 {
		return nil, errors.New("there is no time that is trusted: neither of a log, nor of a timestamp")
	}
	for _, log := range logs {
		for _, at := range times {
			if !within(at, log) {
				return nil, fmt.Errorf("it was made at %s, when the key of its log was not valid", when(at))
			}
		}
	}
	return times, nil
}

// stamped is the times of those timestamps that are of authorities that are trusted.
func (s *Signed) stamped(trusted root.TrustedMaterial) (times []time.Time, _ error) {
	if len(s.Timestamps) > maxTimestamps {
		return nil, fmt.Errorf("it has more than %d timestamps", maxTimestamps)
	}
	for _, stamp := range s.Timestamps {
		if len(stamp) > maxTimestamp {
			return nil, fmt.Errorf("it has a timestamp of more than %d KiB", maxTimestamp>>10)
		}
		for _, authority := range trusted.TimestampingAuthorities() {
			if t, err := authority.Verify(stamp, s.Signature); err == nil {
				times = append(times, t.Time)
				break
			}
		}
	}
	return times, nil
}

// chainsAt leads from a certificate to the roots that are trusted, at a time.
func chainsAt(leaf *x509.Certificate, at time.Time, trusted root.TrustedMaterial) (c [][]*x509.Certificate, _ error) {
	if at.Before(leaf.NotBefore) || at.After(leaf.NotAfter) {
		return nil, fmt.Errorf("it was made at %s, and its certificate is valid from %s to %s", when(at),
			when(leaf.NotBefore), when(leaf.NotAfter))
	}
	for _, authority := range trusted.FulcioCertificateAuthorities() {
		if chains, err := authority.Verify(leaf, at); err == nil {
			return chains, nil
		}
	}
	return nil, errors.New("its certificate is of no authority that is trusted")
}

func when(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// certificateLogged finds out whether a log of certificates that is trusted has this one.
func certificateLogged(leaf *x509.Certificate, chains [][]*x509.Certificate, trusted root.TrustedMaterial) error {
	missing := errors.New("its certificate is in no log of certificates that is trusted")
	scts, err := x509util.ParseSCTsFromCertificate(leaf.Raw)
	if err != nil || len(scts) > maxSCTs {
		return missing
	}
	own, err := ctx509.ParseCertificate(leaf.Raw)
	if own == nil || ctx509.IsFatal(err) {
		return missing
	}
	for _, sct := range scts {
		log := trusted.CTLogs()[hex.EncodeToString(sct.LogID.KeyID[:])]
		if log == nil || !within(ct.TimestampToTime(sct.Timestamp), log) {
			continue
		}
		for _, chain := range chains {
			if len(chain) < 2 {
				continue
			}
			issuer, err := ctx509.ParseCertificate(chain[1].Raw)
			if issuer == nil || ctx509.IsFatal(err) {
				continue
			}
			if ctutil.VerifySCT(log.PublicKey, []*ctx509.Certificate{own, issuer}, sct, true) == nil {
				return nil
			}
		}
	}
	return missing
}

// within is true if the key of a log was valid at a time.
func within(at time.Time, log *root.TransparencyLog) bool {
	return !at.Before(log.ValidityPeriodStart) && (log.ValidityPeriodEnd.IsZero() || !at.After(log.ValidityPeriodEnd))
}
