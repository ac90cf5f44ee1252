package source

import (
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// Check is what Fetch finds out first.
func Check(s v1alpha1.Source) error { return check(s) }

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
