// Package pull gets the files of a container image from its registry: its layers,
// flattened, one after the other and without holding any of them.
package pull

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	berth "github.com/berthdev/berth/internal/registry"
	"github.com/berthdev/berth/internal/registry/image"
)

// Puller pulls images.
type Puller struct {
	// Login finds the credential for a repository, host/path; nil is anonymous.
	Login func(ctx context.Context, repository string) (credential.Credential, error)
	// Platform is the one of an image for several: linux/amd64.
	Platform string
	// Insecure allows registries without TLS; those on the loopback interface may always do without.
	Insecure bool
	Limits   Limits
	// Silence is how long a registry may send nothing.
	Silence time.Duration
	// Progress is told how many bytes of the layers have been read. It may be nil.
	Progress func(done, total int64)
	// Transport carries the requests; nil is credential.Transport.
	Transport http.RoundTripper
}

// Limits bound an image.
type Limits struct {
	Transfer int64 // bytes of all layers, as they are sent
	Unpacked int64 // bytes of all layers, unpacked, also of what another layer hides
	Entries  int   // files, directories and marks of all layers
}

// Files takes the files of an image, each once. The reader ends with the file, or with an error.
type Files interface {
	Add(name string, size int64, r io.Reader) error
}

// Image is one, or a chart, that a reference was resolved to.
type Image struct {
	// Ref has the digest of what the reference names, an index or a manifest, in place of the tag.
	Ref string
	// Chart is true for a chart, as `helm push` writes it: it has an Archive, and no Files.
	Chart bool

	name   reference
	root   ocispec.Descriptor // of what the reference names
	about  about
	layers []ocispec.Descriptor
	remote *remote
	puller Puller
}

// Resolve finds the image that a reference names, by its tag or its digest. Without either, the tag is latest.
func (p Puller) Resolve(ctx context.Context, ref string) (*Image, error) {
	name, err := parse(ref)
	if err != nil {
		return nil, err
	}
	r, err := p.open(ctx, name)
	if err != nil {
		return nil, err
	}
	root, found, err := r.resolve(ctx, p.Platform)
	if err == nil {
		err = p.check(name, found.layers)
	}
	if err != nil {
		return nil, r.fault(ctx, err)
	}
	return &Image{
		Ref: name.repository() + "@" + root.Digest.String(), Chart: found.chart,
		name: name, root: root, about: found.about, layers: found.layers, remote: r, puller: p,
	}, nil
}

// Files gives the files of the image to files. An error of files is returned as it
// is. The digest of every layer has been verified when there is no error.
func (i *Image) Files(ctx context.Context, files Files) error {
	f := flattener{files: files, limits: i.puller.Limits, upper: shadow{}}
	progress := meter{tell: i.puller.Progress}
	for _, layer := range i.layers {
		progress.total += layer.Size
	}
	progress.add(0)
	// From the last to the first: what a layer hides is known before it is read.
	for _, v := range slices.Backward(i.layers) {
		if err := i.remote.layer(ctx, v, &progress, func(r io.Reader) error { return f.layer(ctx, v, r) }); err != nil {
			err = i.remote.fault(ctx, err)
			if ctx.Err() == nil && (fault.ReasonOf(err) == ReasonRefused || fault.ReasonOf(err) == ReasonTooLarge) {
				err = within("image "+i.name.String(), err)
			}
			return err
		}
	}
	return nil
}

// meter counts the bytes of the layers.
type meter struct {
	done, total int64
	tell        func(done, total int64)
}

func (m *meter) add(n int) {
	m.done += int64(n)
	if m.tell != nil {
		m.tell(m.done, m.total)
	}
}

// reference is the name of an image, with its registry, and a tag or a digest.
type reference struct{ registry.Reference }

const defaultTag = "latest"

// parse reads a reference as container tools do.
func parse(text string) (reference, error) {
	parts := image.Parse(text)
	ref, err := registry.ParseReference(berth.Qualify(parts.Name, ""))
	if err == nil {
		ref.Reference = cmp.Or(parts.Digest, tagOf(parts.Tag), defaultTag)
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
