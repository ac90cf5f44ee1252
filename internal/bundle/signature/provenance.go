package signature

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry/pull"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Suffix is what helm adds to the name of an archive for that of its provenance.
const Suffix = ".prov"

// MaxProvenance is how large a provenance may be, in bytes: it has the Chart.yaml of a chart and a digest.
const MaxProvenance = 1 << 20

const hintOfArchive = "sign it with `helm package --sign` and put its provenance (.prov) beside it, or name the " +
	"keyring with the key that it is signed with: --" + FlagKeyring

// Archive is an archive of which its signer is known and the digest that it then has. The zero value is one of which
// nothing was asked.
type Archive struct {
	By   string
	sum  string // sha256: and hexadecimal digits
	what string
}

// Archive reads the provenance of an archive with this file name. A nil text is an archive without provenance.
func (p *Policy) Archive(what, file string, text []byte) (a Archive, _ error) {
	if p == nil {
		return a, nil
	}
	if err := p.CheckKeyring(what); err != nil {
		return a, err
	}
	if text == nil {
		return a, refusal(what, nil, hintOfArchive)
	}
	by, sum, problem := p.provenance(text, file)
	if problem.reason != "" {
		return a, refusal(what, []found{problem}, hintOfArchive)
	}
	return Archive{By: by, sum: sum, what: what}, nil
}

// CheckKeyring refuses to verify an archive without a keyring.
func (p *Policy) CheckKeyring(what string) error {
	if len(p.keyring) > 0 {
		return nil
	}
	return fault.New(fault.Failed, "%s cannot be verified: an archive is signed with helm's provenance, and no "+
		"keyring is given", what).
		WithReason(ReasonUnsupported).
		WithHint("name the keyring with --%s, or push it to a registry and sign it there with cosign", FlagKeyring)
}

// Read gives the archive to take, and refuses one with another digest than was signed.
func (a Archive) Read(r io.Reader, take func(io.Reader) error) error {
	if a.sum == "" {
		return take(r)
	}
	sum := sha256.New()
	r = io.TeeReader(r, sum)
	if err := take(r); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // the rest counts for the digest
		return err
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != a.sum {
		return refusal(a.what, []found{{ReasonOfOther, fmt.Sprintf("its digest is %s, and %s has signed %s", short(got),
			a.By, short(a.sum))}}, "do not use it; tell its signer, and the maintainers of the place")
	}
	return nil
}

// pushed verifies the provenance that a chart in a registry has beside it.
func (p *Policy) pushed(ctx context.Context, image *pull.Image) (by string, _ found, _ error) {
	text, file, digest, err := image.Provenance(ctx)
	if err != nil {
		return "", found{}, err
	}
	if text == nil {
		return "", found{ReasonUnsigned, "no provenance was pushed along with it"}, nil
	}
	by, sum, problem := p.provenance(text, file)
	if problem.reason == "" && sum != digest.String() {
		problem = found{ReasonOfOther, fmt.Sprintf("its archive is %s, and %s has signed %s", short(digest.String()),
			by, short(sum))}
	}
	if problem.reason != "" {
		return "", problem, nil
	}
	return by, found{}, nil
}

// provenance reads what helm writes of an archive: a signed text that has its digest by the name of its file. There is
// nothing before and behind it, so that all that a reader sees is what was signed.
func (p *Policy) provenance(text []byte, file string) (by, sum string, problem found) {
	const begin = "-----BEGIN PGP SIGNED MESSAGE-----"
	invalid := func(format string, args ...any) (string, string, found) {
		return "", "", found{ReasonUntrusted, "its provenance is not valid: " + fmt.Sprintf(format, args...)}
	}
	if len(text) > MaxProvenance {
		return invalid("it has more than %d KiB", MaxProvenance>>10)
	}
	// The library panics at some texts that nobody signs, such as an empty one.
	defer func() {
		if recover() != nil {
			by, sum, problem = invalid("it is not a signed text")
		}
	}()
	text = bytes.TrimSpace(text)
	block, rest := clearsign.Decode(text)
	switch {
	case block == nil || !bytes.HasPrefix(text, []byte(begin)):
		return invalid("it is not a signed text")
	case len(bytes.TrimSpace(rest)) > 0:
		return invalid("something follows what is signed")
	}
	signature, err := io.ReadAll(io.LimitReader(block.ArmoredSignature.Body, MaxProvenance))
	if err != nil {
		return invalid("%v", err)
	}
	signer, err := openpgp.CheckDetachedSignature(p.keyring, bytes.NewReader(block.Bytes), bytes.NewReader(signature),
		&packet.Config{DefaultHash: crypto.SHA512})
	if err != nil {
		return "", "", p.notSigned(err, signature)
	}
	by = nameOf(signer)
	files, err := filesOf(bytes.ReplaceAll(block.Bytes, []byte("\r\n"), []byte("\n")))
	if err != nil {
		return "", "", found{ReasonOfOther, "what " + by + " has signed is not a provenance: " + err.Error()}
	}
	if sum = files[file]; sum == "" {
		names := slices.Sorted(maps.Keys(files))
		return "", "", found{ReasonOfOther, fmt.Sprintf("the provenance that %s has signed is of %s, not of %s", by,
			strings.Join(names[:min(len(names), 3)], ", "), file)}
	}
	return by, sum, found{}
}

// notSigned says why a signature does not count.
func (p *Policy) notSigned(err error, signature []byte) found {
	switch {
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		return found{ReasonUntrusted, "its provenance is signed with " + issuer(signature) + ", which is not in " +
			p.keyringFrom}
	case errors.Is(err, pgperrors.ErrKeyExpired):
		return found{ReasonUntrusted, "its provenance is signed with " + issuer(signature) + ", which has expired"}
	case errors.Is(err, pgperrors.ErrSignatureExpired):
		return found{ReasonUntrusted, "the signature of its provenance has expired"}
	case errors.Is(err, pgperrors.ErrKeyRevoked):
		return found{ReasonUntrusted, "its provenance is signed with " + issuer(signature) + ", which was revoked"}
	}
	return found{ReasonOfOther, "the signature of its provenance, by " + issuer(signature) + ", is not of this text: " +
		err.Error()}
}

// issuer is the key that a signature says it is of.
func issuer(signature []byte) string {
	p, err := packet.NewReader(bytes.NewReader(signature)).Next()
	if s, ok := p.(*packet.Signature); ok && err == nil && s.IssuerKeyId != nil {
		return fmt.Sprintf("key %016X", *s.IssuerKeyId)
	}
	return "a key that it does not name"
}

// nameOf is a key and whose it is.
func nameOf(signer *openpgp.Entity) string {
	name := fmt.Sprintf("key %X", signer.PrimaryKey.Fingerprint)
	if identity := signer.PrimaryIdentity(); identity != nil {
		name += " (" + fault.Line(identity.Name) + ")"
	}
	return name
}

const maxFiles = 100

// filesOf are the digests by file that a provenance has behind the Chart.yaml.
func filesOf(text []byte) (map[string]string, error) {
	const between = "\n...\n"
	_, behind, ok := bytes.Cut(text, []byte(between))
	if !ok || bytes.Contains(behind, []byte(between)) {
		return nil, errors.New("it does not have two parts")
	}
	top, problems := yamldoc.Read("files", behind)
	if len(problems) > 0 || top == nil {
		return nil, errors.New("its files are not valid YAML")
	}
	var sums struct {
		Files map[string]string `yaml:"files"`
	}
	if err := yamldoc.Expand(top).Decode(&sums); err != nil {
		return nil, errors.New("it does not have a digest for each file")
	}
	if len(sums.Files) == 0 || len(sums.Files) > maxFiles {
		return nil, fmt.Errorf("it has %d files", len(sums.Files))
	}
	return sums.Files, nil
}
