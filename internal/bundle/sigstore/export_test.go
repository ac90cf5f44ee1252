package sigstore

import (
	"context"
	"errors"
	"time"
)

// PublicRootOf is PublicRoot of another mirror.
var PublicRootOf = publicRootOf

// FetchedRoot is what is trusted as of a text, as if it had been fetched: without an error.
func FetchedRoot(text []byte, fetch func(context.Context) error) *Root {
	return fetched(func(ctx context.Context) ([]byte, error) { return text, fetch(ctx) })
}

// Unverified is the error of what was fetched, and is not sigstore's.
func Unverified(err error) error { return unverified{err} }

// IsUnverified is true for such an error.
func IsUnverified(err error) bool {
	_, is := errors.AsType[unverified](err)
	return is
}

// Pass lets time pass.
func (r *Root) Pass(d time.Duration) { r.at, r.next = r.at.Add(-d), r.next.Add(-d) }
