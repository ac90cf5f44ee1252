// Package signature finds out by whom what is fetched was signed: images and charts in a registry with cosign, archives
// of charts with helm's provenance. What is verified is a digest, and what has that digest is fetched.
package signature

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/fault"
)

// The flags that say whose signatures count. The key is cosign's and the keyring helm's, with their formats; cosign's
// --key is --verify-key here, where it stands beside a dozen flags about other things. Those of an identity are
// cosign's.
const (
	FlagVerify         = "verify"
	FlagKey            = "verify-key"
	FlagKeyring        = "keyring"
	FlagIdentity       = "certificate-identity"
	FlagIdentityRegExp = "certificate-identity-regexp"
	FlagIssuer         = "certificate-oidc-issuer"
	FlagIssuerRegExp   = "certificate-oidc-issuer-regexp"
	FlagRoot           = "trusted-root"
)

// Required is the value of the configuration that asks for signatures.
const Required = "required"

// Keys say where the keys are: each is a file, or the text of one.
type Keys struct {
	// Public are public keys as cosign has them, in PEM.
	Public []string
	// Keyring has public keys of OpenPGP, as `gpg --export` writes them, in armor or not.
	Keyring string
	// Identities are whose certificates count, which cosign gets of sigstore where it signs without a key.
	Identities []sigstore.Identity
	// TrustedRoot says which authorities and logs vouch for certificates, as sigstore's trusted_root.json. Without it
	// it is that of sigstore's public instance.
	TrustedRoot string
	// Cache is where the root of the public instance is kept between runs; it is kept in memory if this is empty.
	Cache string
}

// Policy says whose signatures count. A nil one asks for none.
type Policy struct {
	keys        []key
	keyring     openpgp.EntityList
	keyringFrom string
	identities  []sigstore.Matcher
	root        *sigstore.Root // nil without identities
	sum         string
}

const (
	maxKey     = 64 << 10 // bytes
	maxKeyring = 8 << 20  // bytes
	maxKeys    = 32
	maxMark    = 64 // bytes in which a text is seen to be one
)

// New reads the keys. Without any it is helm's own keyring, if there is one at home: getenv is nil where nobody is at
// home.
func New(from Keys, getenv func(string) string) (*Policy, error) {
	p, sum := &Policy{}, sha256.New()
	if len(from.Public) > maxKeys {
		return nil, fault.New(fault.InvalidArgument, "more than %d public keys are given", maxKeys)
	}
	for _, name := range from.Public {
		text, where, err := read(name, maxKey, "the public key")
		if err != nil {
			return nil, err
		}
		keys, err := parseKeys(text, where)
		if err != nil {
			return nil, err
		}
		p.keys = append(p.keys, keys...)
		_, _ = sum.Write(text)
	}
	if err := p.readIdentities(from, sum); err != nil {
		return nil, err
	}
	ring := from.Keyring
	if ring == "" && !p.ofCosign() {
		ring = homeKeyring(getenv)
	}
	if ring == "" {
		if !p.ofCosign() {
			return nil, noKeys()
		}
	} else if err := p.readKeyring(ring, sum); err != nil {
		return nil, err
	}
	p.sum = hex.EncodeToString(sum.Sum(nil))
	return p, nil
}

func noKeys() error {
	return fault.New(fault.InvalidArgument, "signatures are to be verified, and no keys are given to verify them with").
		WithHint("name the file of a public key of cosign with --%s, an identity with --%s and --%s, or a keyring "+
			"with --%s; bundles.keys, bundles.identities and bundles.keyring of the configuration do the same",
			FlagKey, FlagIdentity, FlagIssuer, FlagKeyring)
}

// Sum tells policies with different keys apart: what was verified under one was not under another. It is another one
// once something else vouches for certificates.
func (p *Policy) Sum() string {
	if p.root == nil {
		return p.sum
	}
	sum := sha256.Sum256([]byte(p.sum + "\n" + p.root.Sum()))
	return hex.EncodeToString(sum[:])
}

// Texts are the keys themselves, for where their files are not.
func (k Keys) Texts() (texts Keys, _ error) {
	for _, name := range k.Public {
		text, _, err := read(name, maxKey, "the public key")
		if err != nil {
			return Keys{}, err
		}
		texts.Public = append(texts.Public, string(text))
	}
	texts.Identities = k.Identities
	if k.TrustedRoot != "" {
		text, _, err := read(k.TrustedRoot, sigstore.MaxRoot, theRoot)
		if err != nil {
			return Keys{}, err
		}
		texts.TrustedRoot = string(text)
	}
	if k.Keyring == "" {
		return texts, nil
	}
	text, _, err := read(k.Keyring, maxKeyring, "the keyring")
	if err != nil || IsText(string(text[:min(len(text), maxMark)])) {
		texts.Keyring = string(text)
		return texts, err
	}
	var out bytes.Buffer
	w, err := armor.Encode(&out, openpgp.PublicKeyType, nil)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	texts.Keyring = out.String()
	return texts, err
}

// homeKeyring returns the path of helm's default keyring, or "" if that file does not exist.
func homeKeyring(getenv func(string) string) string {
	if getenv == nil {
		return ""
	}
	dir := getenv("GNUPGHOME")
	if home := getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".gnupg")
	}
	if dir == "" {
		return ""
	}
	file := filepath.Join(dir, "pubring.gpg")
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

// read reads a file, unless it is the text of one already, and says what it is in messages.
func read(name string, most int64, what string) (text []byte, where string, err error) {
	if IsText(name) || sigstore.IsRoot(name) {
		return []byte(name), what + " of the configuration", nil
	}
	file, err := os.Open(name)
	if err == nil {
		defer file.Close()
		text, err = io.ReadAll(io.LimitReader(file, most+1))
	}
	switch {
	case err != nil:
		return nil, "", fault.New(fault.InvalidArgument, "%s cannot be read: %w", what, err)
	case int64(len(text)) > most:
		return nil, "", fault.New(fault.InvalidArgument, "%s %s has more than %d KiB", what, name, most>>10)
	}
	return text, what + " " + name, nil
}

// IsText is true for the text of keys, in PEM or armor, rather than the name of a file that has them.
func IsText(key string) bool { return strings.HasPrefix(strings.TrimSpace(key), "-----BEGIN ") }

// readKeyring reads the public keys of OpenPGP.
func (p *Policy) readKeyring(name string, sum io.Writer) error {
	text, where, err := read(name, maxKeyring, "the keyring")
	if err != nil {
		return err
	}
	_, _ = sum.Write(append([]byte("keyring\n"), text...))
	if IsText(string(text[:min(len(text), maxMark)])) {
		p.keyring, err = openpgp.ReadArmoredKeyRing(bytes.NewReader(text))
	} else {
		p.keyring, err = openpgp.ReadKeyRing(bytes.NewReader(text))
	}
	if err == nil && len(p.keyring) == 0 {
		err = errors.New("it has no keys")
	}
	if err != nil {
		return fault.New(fault.InvalidArgument, "%s cannot be read: %w", where, err).
			WithHint("write it with `gpg --export KEY > FILE`; the files that gpg itself works with (pubring.kbx) " +
				"are of another format")
	}
	p.keyringFrom = where
	return nil
}

// The reasons of refusals.
const (
	ReasonUnsigned    = "NOT_SIGNED"         // there is nothing to verify
	ReasonUntrusted   = "SIGNED_BY_ANOTHER"  // with a key or by an identity that is not among those that count
	ReasonOfOther     = "SIGNATURE_MISMATCH" // of something else
	ReasonUnknown     = "SIGNER_NOT_KNOWN"   // the trusted root, by which that is found out, cannot be fetched
	ReasonUnsupported = "CANNOT_BE_SIGNED"   // it is of a kind that has no signatures
)

// found is what was wrong with a signature: the reasons are in the order of how near it came.
type found struct {
	reason string
	text   string
}

// refusal is the error of content of which no signature counts, with all that was found.
func refusal(what string, all []found, hint string) error {
	const most = 5
	worst := found{reason: ReasonUnsigned, text: "no signature was found"}
	rank := map[string]int{ReasonUnsigned: 0, ReasonUntrusted: 1, ReasonOfOther: 2, ReasonUnknown: 3}
	var texts []string
	for _, f := range all {
		if rank[f.reason] >= rank[worst.reason] {
			worst = f
		}
		texts = append(texts, f.text)
	}
	if len(all) == 0 {
		texts = []string{worst.text}
	}
	err := fault.New(fault.Failed, "%s is not accepted: %s", what, texts[0]).WithReason(worst.reason).
		WithHint("%s", hint)
	if len(texts) > 1 {
		err = fault.New(fault.Failed, "%s is not accepted: no signature of it counts", what).WithReason(worst.reason).
			WithHint("%s", hint)
		if n := len(texts) - most; n > 0 {
			texts = append(texts[:most], "and more")
		}
		for _, text := range texts {
			err.Problems = append(err.Problems, fault.Line(text))
		}
	}
	if worst.reason == ReasonUnknown {
		err.Code = fault.Unavailable
		err.Hint = "where sigstore cannot be reached, name the file of a trusted root with --" + FlagRoot +
			", or bundles.trustedRoot of the configuration"
	}
	return err
}

// Unsupported refuses what has no signature that is known, by its name and with what to do instead.
func (p *Policy) Unsupported(what string) error {
	if p == nil {
		return nil
	}
	return fault.New(fault.Failed, "%s cannot be verified: there are no signatures for that", what).
		WithReason(ReasonUnsupported).
		WithHint("push it to a registry as an image, sign that with `cosign sign --key`, and install it from oci://; " +
			"for a chart: `helm package --sign`, and name the archive with its provenance beside it")
}

// short is the beginning of a digest, for messages.
func short(digest string) string {
	return cmp.Or(digest[:min(len(digest), len("sha256:")+12)], "nothing")
}
