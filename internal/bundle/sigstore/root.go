package sigstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/tuf"
	"github.com/theupdateframework/go-tuf/v2/metadata"

	"github.com/berthdev/berth/internal/fault"
)

// MaxRoot is how many bytes a trusted root may have.
const MaxRoot = 1 << 20

// Root is where the authorities and logs that are trusted are known from: a text, or sigstore itself.
type Root struct {
	sum   string
	fetch func(context.Context) (*root.TrustedRoot, error)

	mu   sync.Mutex
	last *root.TrustedRoot
	at   time.Time // when last was fetched; zero if it never changes
}

// IsRoot is true for the text of a trusted root rather than the name of a file that has it.
func IsRoot(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "{") }

// ReadRoot reads a trusted root, as `cosign trusted-root create` writes it. where names it in messages.
func ReadRoot(text []byte, where string) (*Root, error) {
	trusted, err := root.NewTrustedRootFromJSON(text)
	if err == nil && (len(trusted.FulcioCertificateAuthorities()) == 0 || len(trusted.RekorLogs()) == 0 ||
		len(trusted.CTLogs()) == 0) {
		err = errors.New("it has to have an authority of certificates, a log of signatures and a log of certificates")
	}
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s is not valid: %w", where, err).
			WithHint("name sigstore's trusted_root.json, or the one that `cosign trusted-root create` writes for an " +
				"installation of your own")
	}
	sum := sha256.Sum256(text)
	return &Root{sum: hex.EncodeToString(sum[:]), last: trusted}, nil
}

// Sum tells roots apart.
func (r *Root) Sum() string { return r.sum }

const (
	daily       = 24 * time.Hour
	mostAge     = 7 * daily // of a root that cannot be renewed
	fetchTime   = 30 * time.Second
	publicRoot  = "sigstore's public instance"
	hintOfFetch = "where sigstore cannot be reached, name the file of a trusted root with --%s, or " +
		"bundles.trustedRoot of the configuration: sigstore's is target trusted_root.json of its TUF repository, %s"
)

// PublicRoot is the root of sigstore's public instance. It is fetched when it is first needed, verified by what is
// linked with this program, and kept in a directory for a day; without a directory in memory. flag is what names
// another root, for messages.
func PublicRoot(dir, flag string) *Root { return publicRootOf(tuf.DefaultMirror, dir, flag) }

func publicRootOf(mirror, dir, flag string) *Root {
	return &Root{sum: publicRoot, fetch: func(ctx context.Context) (*root.TrustedRoot, error) {
		ctx, cancel := context.WithTimeout(ctx, fetchTime)
		defer cancel()
		options := &tuf.Options{
			Root: tuf.DefaultRoot(), RepositoryBaseURL: mirror, Context: ctx, Fetcher: getting(ctx), CacheValidity: 1,
			DisableLocalCache: dir == "", CachePath: filepath.Join(dir, "sigstore"),
		}
		trusted, err := root.FetchTrustedRootWithOptions(options)
		if err != nil {
			return nil, fault.New(fault.Unavailable, "the trusted root of %s cannot be fetched: %w", publicRoot, err).
				WithHint(hintOfFetch, flag, mirror)
		}
		return trusted, nil
	}}
}

// Trusted is what is trusted now.
func (r *Root) Trusted(ctx context.Context) (root.TrustedMaterial, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fetch == nil || r.last != nil && time.Since(r.at) < daily {
		return r.last, nil
	}
	trusted, err := r.fetch(ctx)
	switch {
	case err == nil:
		r.last, r.at = trusted, time.Now()
	case r.last == nil || time.Since(r.at) > mostAge:
		return nil, err
	}
	return r.last, nil
}

// getter fetches files for TUF.
type getter func(at string, most int64) ([]byte, error)

// DownloadFile implements fetcher.Fetcher.
func (g getter) DownloadFile(at string, most int64, _ time.Duration) ([]byte, error) {
	return g(at, most)
}

// getting fetches files as long as a context lasts.
func getting(ctx context.Context) getter {
	return func(at string, most int64) ([]byte, error) {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
		if err != nil {
			return nil, err
		}
		response, err := http.DefaultClient.Do(q)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, &metadata.ErrDownloadHTTP{StatusCode: response.StatusCode, URL: at}
		}
		text, err := io.ReadAll(io.LimitReader(response.Body, most+1))
		if err == nil && int64(len(text)) > most {
			err = &metadata.ErrDownloadLengthMismatch{Msg: fmt.Sprintf("%s has more than %d bytes", at, most)}
		}
		return text, err
	}
}
