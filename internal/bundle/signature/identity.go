package signature

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/fault"
)

const (
	maxIdentities = 32
	theRoot       = "the trusted root"
)

// readIdentities reads whose certificates count, and what vouches for certificates.
func (p *Policy) readIdentities(from Keys, sum io.Writer) error {
	if len(from.Identities) > maxIdentities {
		return fault.New(fault.InvalidArgument, "more than %d identities are given", maxIdentities)
	}
	for i, identity := range from.Identities {
		m, err := identity.Matcher(namesOf(i))
		if err != nil {
			return err
		}
		p.identities = append(p.identities, m)
	}
	switch {
	case len(from.Identities) == 0 && from.TrustedRoot != "":
		return fault.New(fault.InvalidArgument, "a trusted root vouches for certificates, and no identity is given").
			WithHint("name whose certificates count with --%s and --%s, or bundles.identities of the configuration",
				FlagIdentity, FlagIssuer)
	case len(from.Identities) == 0:
		return nil
	}
	if from.TrustedRoot == "" {
		p.root = sigstore.PublicRoot(from.Cache, FlagRoot)
	} else {
		text, where, err := read(from.TrustedRoot, sigstore.MaxRoot, theRoot)
		if err != nil {
			return err
		}
		if p.root, err = sigstore.ReadRoot(text, where); err != nil {
			return err
		}
	}
	text, err := json.Marshal(from.Identities)
	_, _ = fmt.Fprintf(sum, "identities\n%s\n", text)
	return err
}

// namesOf are what the parts of an identity are called, by the flags and in the configuration.
func namesOf(i int) (names [4]string) {
	for n, part := range [4][2]string{
		{FlagIdentity, "subject"},
		{FlagIdentityRegExp, "subjectRegExp"},
		{FlagIssuer, "issuer"},
		{FlagIssuerRegExp, "issuerRegExp"},
	} {
		names[n] = fmt.Sprintf("--%s (bundles.identities[%d].%s)", part[0], i, part[1])
	}
	return names
}

// ofCosign is true if signatures of cosign can count.
func (p *Policy) ofCosign() bool { return len(p.keys) > 0 || len(p.identities) > 0 }

// identified is whose signature one with a certificate is, if theirs count: the certificate is verified then, with its
// logs and the time. err is what is wrong with how it is written. What vouches for certificates is fetched for the
// first of them: keys count without it.
func (p *Policy) identified(ctx context.Context, s *sigstore.Signed, err error) (by string, _ found) {
	if err != nil {
		return "", found{ReasonUntrusted, "a signature that is not valid: " + err.Error()}
	}
	if len(p.identities) == 0 {
		return "", found{
			ReasonUntrusted, "it is signed with " + certified(s) + ": keys count, and no identity is given",
		}
	}
	trusted, err := p.root.Trusted(ctx)
	if err != nil {
		return "", found{ReasonUnknown, "it is signed with " + certified(s) + ": " + err.Error()}
	}
	who, err := sigstore.Verify(s, trusted)
	if err != nil {
		return "", found{ReasonUntrusted, "it is signed with " + certified(s) + ": " + err.Error()}
	}
	for _, m := range p.identities {
		if m.Match(who) {
			return who.String(), found{}
		}
	}
	return "", found{ReasonUntrusted, "it is signed by another: " + who.String()}
}

// certified names a certificate by to whom it was issued, and by whom they have logged in: nobody has verified that.
func certified(s *sigstore.Signed) string {
	certificate, err := s.Parse()
	if err != nil {
		return "a certificate"
	}
	who, err := sigstore.SignerOf(certificate)
	if err != nil {
		return "a certificate"
	}
	return "a certificate that says it is of " + who.String()
}
