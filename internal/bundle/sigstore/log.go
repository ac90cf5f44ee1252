package sigstore

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	rekorpb "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
)

// logged finds out which logs that are trusted have an entry of exactly this signature, and the times at which they say
// that they got it. Entries of other logs do not matter; one that is not right is refused. Whether the keys of the logs
// were valid is left to be asked: a proof alone has no time.
func (s *Signed) logged(leaf *x509.Certificate, trusted root.TrustedMaterial) (logs []*root.TransparencyLog,
	times []time.Time, _ error,
) {
	if len(s.Entries) > maxEntries {
		return nil, nil, fmt.Errorf("it has more than %d entries of logs", maxEntries)
	}
	for _, entry := range s.Entries {
		log := trusted.RekorLogs()[hex.EncodeToString(entry.GetLogId().GetKeyId())]
		if log == nil {
			continue
		}
		if err := s.isOf(entry, leaf); err != nil {
			return nil, nil, err
		}
		promise, included := entry.GetInclusionPromise().GetSignedEntryTimestamp(), entry.GetInclusionProof()
		if len(promise) == 0 && included == nil {
			return nil, nil, errors.New("its entry of the log has neither a promise nor a proof")
		}
		if len(promise) > 0 {
			at, err := promised(entry, promise, log)
			if err != nil {
				return nil, nil, err
			}
			times = append(times, at)
		}
		if included != nil {
			if err := proven(entry.GetCanonicalizedBody(), included, log); err != nil {
				return nil, nil, err
			}
		}
		logs = append(logs, log)
	}
	if len(logs) == 0 {
		return nil, nil, errors.New("it is in no log that is trusted")
	}
	return logs, times, nil
}

// promised verifies what a log has signed when it took the entry, which has a time.
func promised(e *rekorpb.TransparencyLogEntry, promise []byte, log *root.TransparencyLog) (at time.Time, _ error) {
	at = time.Unix(e.GetIntegratedTime(), 0)
	// This is the canonical JSON of it: what is in it needs no escapes.
	text := fmt.Appendf(nil, `{"body":%q,"integratedTime":%d,"logID":"%x","logIndex":%d}`,
		base64.StdEncoding.EncodeToString(e.GetCanonicalizedBody()), e.GetIntegratedTime(), e.GetLogId().GetKeyId(),
		e.GetLogIndex())
	if !Verifies(log.PublicKey, text, promise) {
		return at, errors.New("its entry of the log is not signed by the log")
	}
	return at, nil
}

// proven verifies that an entry is in a log, by a head of the log that is signed.
func proven(body []byte, p *rekorpb.InclusionProof, log *root.TransparencyLog) error {
	size, hash, err := head(p.GetCheckpoint().GetEnvelope(), log)
	if err != nil {
		return err
	}
	// What the log has signed counts; a proof that says something else about it is not of this head.
	if p.GetLogIndex() < 0 || p.GetTreeSize() < 0 || uint64(p.GetTreeSize()) != size ||
		!bytes.Equal(p.GetRootHash(), hash) {
		return errors.New("the proof of its entry of the log is not valid")
	}
	leaf := rfc6962.DefaultHasher.HashLeaf(body)
	err = proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(p.GetLogIndex()), size, leaf, p.GetHashes(), hash)
	if err != nil {
		return errors.New("its entry is not in the log: the proof leads elsewhere")
	}
	return nil
}

// ofTree is true for the first line of a head of a log of Rekor 1, which has numbered trees; later ones name the log
// alone.
func ofTree(origin string) bool {
	at := strings.LastIndex(origin, " - ")
	if at < 0 {
		return false
	}
	number := origin[at+len(" - "):]
	return number != "" && strings.Trim(number, "0123456789") == ""
}

// head verifies a signed note that says how many entries a log has, and the root of its tree.
func head(signed string, log *root.TransparencyLog) (size uint64, hash []byte, _ error) {
	n, err := note.Open([]byte(signed), signers{log.PublicKey})
	if err != nil {
		return 0, nil, errors.New("the head of the log is not signed by the log")
	}
	invalid := errors.New("the head of the log is not valid")
	lines := strings.SplitN(n.Text, "\n", 4)
	if len(lines) < 4 {
		return 0, nil, invalid
	}
	if !ofTree(lines[0]) {
		at, err := url.Parse(log.BaseURL)
		if err != nil || at.Hostname() == "" || at.Hostname() != lines[0] {
			return 0, nil, errors.New("the head of the log is of another log")
		}
	}
	if size, err = strconv.ParseUint(lines[1], 10, 64); err != nil {
		return 0, nil, invalid
	}
	hash, err = base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(hash) != sha256.Size {
		return 0, nil, invalid
	}
	return size, hash, nil
}

// signers are the signers of the heads of a log: the key of the log, by whatever name.
type signers struct{ public crypto.PublicKey }

// Verifier implements note.Verifiers.
func (s signers) Verifier(name string, hash uint32) (note.Verifier, error) {
	v := logKey{name: name, hash: hash, public: s.public}
	if slices.Contains(v.hashes(), hash) {
		return v, nil
	}
	return nil, &note.UnknownVerifierError{Name: name, KeyHash: hash}
}

// logKey implements note.Verifier.
type logKey struct {
	name   string
	hash   uint32
	public crypto.PublicKey
}

func (k logKey) Name() string                      { return k.name }
func (k logKey) KeyHash() uint32                   { return k.hash }
func (k logKey) Verify(msg, signature []byte) bool { return Verifies(k.public, msg, signature) }

// hashes are by what a signature names the key: Rekor 1 by the hash of the key, later ones of Ed25519 as notes do.
func (k logKey) hashes() (all []uint32) {
	if der, err := x509.MarshalPKIXPublicKey(k.public); err == nil {
		sum := sha256.Sum256(der)
		all = append(all, binary.BigEndian.Uint32(sum[:]))
	}
	if public, ok := k.public.(ed25519.PublicKey); ok {
		const ofEd25519 = 1
		sum := sha256.Sum256(bytes.Join([][]byte{[]byte(k.name), {'\n', ofEd25519}, public}, nil))
		all = append(all, binary.BigEndian.Uint32(sum[:]))
	}
	return all
}
