package source

import (
	"context"
	"io"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/git"
)

// Check is what Fetch finds out first.
func Check(s v1alpha1.Source) error { return check(s) }

// Versions are those that an index has of a chart, each with its first URL.
func Versions(index io.Reader, chart string) (versions []string, _ error) {
	entries, err := readIndex(index, chart)
	for _, e := range entries {
		versions = append(versions, strings.Join(append([]string{e.Version}, e.URLs...), " "))
	}
	return versions, err
}

// Choose is the version that is taken of some.
func Choose(versions []string, wanted, of string) (string, error) {
	return choose(versions, wanted, of)
}

// HasOwnLogin is whether a repository is sent the caller's own login.
func (f Fetcher) HasOwnLogin(ctx context.Context, repository *url.URL) bool {
	return f.ownLogin(ctx, &git.Remote{URL: repository})
}

// NewChunk is the one chunk of an upload of a bundle.
func NewChunk(bundle string) *corev1.ConfigMap {
	owner := &v1alpha1.Bundle{}
	owner.Name, owner.UID = bundle, "1"
	return newChunk(owner, "berth-system", "sha256:0", 0, 1, []byte("secret"))
}

// WithMaxSilence is a fetcher that waits for less long.
func (f Fetcher) WithMaxSilence(d time.Duration) Fetcher {
	f.silence = d
	return f
}

// WithChunks is a fetcher whose uploads have smaller chunks.
func (f Fetcher) WithChunks(bytes int) Fetcher {
	f.chunk = bytes
	return f
}
