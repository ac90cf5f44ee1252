package signature

import (
	"context"

	"github.com/berthdev/berth/internal/registry/pull"
)

// Attached is whose signature something is that a registry has beside an image, and what is wrong with it otherwise.
func (p *Policy) Attached(a pull.Attachment, digest string) (by, problem string) {
	read := p.payload
	if a.MediaType == pull.TypeBundle {
		read = p.bundle
	}
	trusted, err := p.trusted(context.Background())
	if err != nil {
		return "", err.Error()
	}
	by, f := read(a, digest, trusted)
	return by, f.text
}
