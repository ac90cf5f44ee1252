package sigstore

import (
	"context"
	"testing"

	"github.com/sigstore/sigstore-go/pkg/root"
)

// PublicRootOf is PublicRoot of another mirror.
var PublicRootOf = publicRootOf

// FetchedRoot is what is trusted as of another root, as if it had been fetched.
func FetchedRoot(t *testing.T, of *Root, fetched func()) *Root {
	t.Helper()
	return &Root{fetch: func(context.Context) (*root.TrustedRoot, error) {
		fetched()
		return of.last, nil
	}}
}
