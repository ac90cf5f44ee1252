// Package sigstore finds out by whom a signature was made without a key of theirs: Fulcio's certificate says that, and
// Rekor's log or a timestamp that they signed while it was valid. The rules are those of sigstore-go's pkg/verify,
// which costs too much at every start: see docs/design/dependencies.md. What reads certificates, timestamps, proofs and
// metadata is sigstore's.
package sigstore

import (
	"crypto/x509"
	"regexp"

	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"

	"github.com/berthdev/berth/internal/fault"
)

// Identity says whose signatures count: the subject of their certificates, and the issuer by whom they have logged in.
// Each is a text that is the same, or a regular expression that matches the whole.
type Identity struct {
	Subject       string `yaml:"subject,omitempty"`
	SubjectRegExp string `yaml:"subjectRegExp,omitempty"`
	Issuer        string `yaml:"issuer,omitempty"`
	IssuerRegExp  string `yaml:"issuerRegExp,omitempty"`
}

// Signer is the one that has signed: what a certificate says.
type Signer struct {
	Subject, Issuer string
}

// String names the signer in one line.
func (s Signer) String() string { return fault.Line(s.Subject) + " (" + fault.Line(s.Issuer) + ")" }

// Matcher is an Identity that has been read.
type Matcher struct {
	subject, issuer func(string) bool
}

// Match is true if a signer is the one.
func (m Matcher) Match(s Signer) bool { return m.subject(s.Subject) && m.issuer(s.Issuer) }

// Matcher reads an identity. Its parts are named as where they come from has them, in the order of the fields.
func (i Identity) Matcher(names [4]string) (m Matcher, err error) {
	if m.subject, err = matcher(i.Subject, i.SubjectRegExp, names[0], names[1]); err != nil {
		return m, err
	}
	m.issuer, err = matcher(i.Issuer, i.IssuerRegExp, names[2], names[3])
	return m, err
}

const maxExpression = 4 << 10 // bytes

func matcher(text, expression, textName, expressionName string) (func(string) bool, error) {
	const hint = "name both: the identity, and the issuer by whom they have logged in, such as " +
		"https://token.actions.githubusercontent.com"
	switch {
	case text == "" && expression == "":
		return nil, fault.New(fault.InvalidArgument, "%s or %s is missing", textName, expressionName).WithHint(hint)
	case text != "" && expression != "":
		return nil, fault.New(fault.InvalidArgument, "%s and %s are given: one of them is enough", textName,
			expressionName)
	case text != "":
		return func(of string) bool { return of == text }, nil
	case len(expression) > maxExpression:
		return nil, fault.New(fault.InvalidArgument, "%s has more than %d KiB", expressionName, maxExpression>>10)
	}
	// The expression alone comes first: one such as "a)|(b" must not become valid by what is put around it.
	_, err := regexp.Compile(expression)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s is not valid: %w", expressionName, err)
	}
	whole, err := regexp.Compile(`\A(?:` + expression + `)\z`)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s is not valid: %w", expressionName, err)
	}
	return whole.MatchString, nil
}

// SignerOf is what a certificate says about its owner, which is true if the certificate is.
func SignerOf(c *x509.Certificate) (s Signer, err error) {
	summary, err := certificate.SummarizeCertificate(c)
	if err != nil {
		return s, err
	}
	return Signer{Subject: summary.SubjectAlternativeName, Issuer: summary.Issuer}, nil
}
