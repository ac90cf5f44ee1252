package signature

import (
	"context"

	"github.com/berthdev/berth/internal/registry/pull"
)

// Attached is whose signature something is that a registry has beside an image, and what is wrong with it otherwise.
func (p *Policy) Attached(a pull.Attachment, digest string) (by, problem string) {
	by, f := p.attached(context.Background(), a, digest)
	return by, f.text
}
