package pull

import (
	"cmp"
	"strings"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry"

	"github.com/berthdev/berth/internal/fault"
	berth "github.com/berthdev/berth/internal/registry"
	"github.com/berthdev/berth/internal/registry/image"
)

// reference is the name of an image, with its registry, and a tag or a digest.
type reference struct{ registry.Reference }

const defaultTag = "latest"

// parse reads a reference as container tools do.
func parse(text string) (reference, error) {
	parts := image.Parse(text)
	ref, err := registry.ParseReference(berth.Qualify(parts.Name, ""))
	if err == nil {
		ref.Reference = cmp.Or(parts.Digest, parts.Tag, defaultTag)
		err = ref.ValidateReference()
	}
	if err == nil && parts.Digest != "" {
		err = digest.Digest(parts.Digest).Validate()
	}
	if err != nil || strings.HasSuffix(text, ":") || strings.HasSuffix(text, "@") {
		return reference{}, fault.New(fault.InvalidArgument, "%q is not a reference of an image", text).
			WithHint("write HOST/PATH:TAG or HOST/PATH@sha256:DIGEST, in lower case")
	}
	return reference{ref}, nil
}

// repository is the name without tag and digest.
func (r reference) repository() string { return r.Registry + "/" + r.Repository }
