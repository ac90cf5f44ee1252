package sigstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/tuf"
	"github.com/theupdateframework/go-tuf/v2/metadata"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/internal/fault"
)

// MaxRoot is how many bytes a trusted root may have.
const MaxRoot = 1 << 20

// Root is where the authorities and logs that are trusted are known from: a text, or sigstore itself.
type Root struct {
	fetch func(context.Context) (text []byte, _ error)
	seen  string // the file of what was fetched last; empty if that is kept nowhere

	turn chan struct{} // of one that fetches

	mu      sync.Mutex
	last    *root.TrustedRoot
	sum     string    // of last
	at      time.Time // when last was fetched; zero if it never changes
	next    time.Time // when it is fetched again
	failure error     // of the last time, without which last counts
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
	return &Root{sum: sumOf(text), last: trusted}, nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Sum tells roots apart. Of one that is fetched it is that of what was fetched last: by this process or, as long as an
// old root counts, by one before it. Until either is known it is that of no root.
func (r *Root) Sum() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && (r.fetch == nil || time.Since(r.at) <= mostAge) {
		return r.sum
	}
	if info, err := os.Stat(r.seen); err == nil && time.Since(info.ModTime()) <= mostAge {
		if text, err := os.ReadFile(r.seen); err == nil {
			return sumOf(text)
		}
	}
	return "unknown"
}

const (
	daily       = 24 * time.Hour
	mostAge     = 7 * daily // of a root that cannot be renewed
	fetchTime   = 30 * time.Second
	pause       = time.Minute // after a failure
	longPause   = time.Hour   // after a failure, with a root that still counts
	publicRoot  = "sigstore's public instance"
	target      = "trusted_root.json" // of its TUF repository
	hintOfFetch = "where sigstore cannot be reached, name the file of a trusted root with --%s, or " +
		"bundles.trustedRoot of the configuration: sigstore's is target trusted_root.json of its TUF repository, %s"
)

// PublicRoot is the root of sigstore's public instance. It is fetched when it is first needed, verified by what is
// linked with this program, and kept in a directory for a day; without a directory in memory. flag is what names
// another root, for messages.
func PublicRoot(dir, flag string) *Root {
	return publicRootOf(tuf.DefaultMirror, tuf.DefaultRoot(), dir, flag)
}

func publicRootOf(mirror string, initial []byte, dir, flag string) *Root {
	kept := filepath.Join(dir, "sigstore")
	r := fetched(func(ctx context.Context) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, fetchTime)
		defer cancel()
		answered := false
		text, err := targetOf(&tuf.Options{
			Root: initial, RepositoryBaseURL: mirror, Context: ctx, Fetcher: getting(ctx, &answered),
			CacheValidity: 1, DisableLocalCache: dir == "", CachePath: kept,
		})
		// What has expired is sigstore's, as is no answer: whoever can send it could as well send nothing.
		if _, expired := errors.AsType[*metadata.ErrExpiredMetadata](err); err != nil && answered && !expired {
			err = unverified{err}
		}
		if err != nil {
			return nil, fault.New(fault.Unavailable, "the trusted root of %s cannot be fetched: %w", publicRoot, err).
				WithHint(hintOfFetch, flag, mirror)
		}
		return text, nil
	})
	if dir != "" {
		r.seen = filepath.Join(kept, target)
	}
	return r
}

// targetOf is the trusted root in a TUF repository.
func targetOf(o *tuf.Options) ([]byte, error) {
	client, err := tuf.New(o)
	if err != nil {
		return nil, err
	}
	text, err := client.GetTarget(target)
	if err == nil {
		_, err = root.NewTrustedRootFromJSON(text)
	}
	return text, err
}

func fetched(fetch func(context.Context) ([]byte, error)) *Root {
	return &Root{fetch: fetch, turn: make(chan struct{}, 1)}
}

// Trusted is what is trusted now. One caller fetches it, the others wait as long as their contexts last.
func (r *Root) Trusted(ctx context.Context) (root.TrustedMaterial, error) {
	if trusted, err := r.known(); trusted != nil || err != nil {
		return trusted, err
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if trusted, err := r.known(); trusted != nil || err != nil { // another one has fetched it
		return trusted, err
	}
	text, err := r.fetch(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err() // which says nothing about sigstore
	}
	trusted, failed := r.keep(text, err)
	if err != nil && failed == nil {
		klog.FromContext(ctx).Error(err, "An old root of sigstore is trusted, as no other one can be fetched",
			"trustedUntil", r.at.Add(mostAge))
	}
	return trusted, failed
}

// known is what is trusted, or why nothing is; neither if that has to be fetched.
func (r *Root) known() (root.TrustedMaterial, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.fetch != nil && !time.Now().Before(r.next):
		return nil, nil
	case r.last == nil || r.fetch != nil && time.Since(r.at) > mostAge:
		return nil, r.failure
	}
	return r.last, nil
}

// keep remembers what was fetched, or that it was not. The old root counts where nothing was fetched, and not where
// what was fetched is not sigstore's.
func (r *Root) keep(text []byte, err error) (root.TrustedMaterial, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if err == nil {
		var trusted *root.TrustedRoot
		if trusted, err = root.NewTrustedRootFromJSON(text); err == nil {
			r.last, r.sum, r.at, r.next, r.failure = trusted, sumOf(text), now, now.Add(daily), nil
			if r.seen != "" {
				_ = os.WriteFile(r.seen, text, 0o600) // without it, what was verified is verified again
			}
			return trusted, nil
		}
	}
	r.next, r.failure = now.Add(pause), err
	if _, refused := errors.AsType[unverified](err); refused {
		r.last = nil
	}
	if r.last == nil || now.Sub(r.at) > mostAge {
		return nil, err
	}
	r.next = now.Add(longPause)
	return r.last, nil
}

// unverified is the error of what was fetched, and is not sigstore's.
type unverified struct{ error }

func (u unverified) Unwrap() error { return u.error }

// getter fetches files for TUF.
type getter func(at string, most int64) ([]byte, error)

// DownloadFile implements fetcher.Fetcher.
func (g getter) DownloadFile(at string, most int64, _ time.Duration) ([]byte, error) {
	return g(at, most)
}

// getting fetches files as long as a context lasts. answered is whether there was an answer to the last request.
func getting(ctx context.Context, answered *bool) getter {
	return func(at string, most int64) ([]byte, error) {
		*answered = false
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
		*answered = err == nil
		if err == nil && int64(len(text)) > most {
			err = &metadata.ErrDownloadLengthMismatch{Msg: fmt.Sprintf("%s has more than %d bytes", at, most)}
		}
		return text, err
	}
}
