package pull

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	oras "oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// remote is a repository of a registry.
type remote struct {
	name  reference
	login credential.Credential
	gate  *gate
	repo  *oras.Repository
}

// open finds the login; nothing is sent to the registry yet.
func (p Puller) open(ctx context.Context, name reference) (*remote, error) {
	r := &remote{name: name, gate: newGate(name.Host(), p)}
	if p.Login != nil {
		var err error
		if r.login, err = p.Login(ctx, name.repository()); err != nil {
			return nil, err
		}
	}
	repo, err := oras.NewRepository(name.repository())
	if err != nil {
		return nil, err
	}
	repo.Client = &auth.Client{
		Client: &http.Client{
			Transport: &retry.Transport{Base: r.gate, Policy: again}, CheckRedirect: r.gate.redirect,
		},
		Header:     http.Header{"User-Agent": {"berth"}},
		Cache:      auth.NewCache(),
		Credential: r.credential,
		ClientID:   "berth",
	}
	r.repo = repo
	return r, nil
}

// again sends a request once more if the registry, or what stands before it, has a moment of weakness.
func again() retry.Policy {
	return &retry.GenericPolicy{
		Retryable: func(response *http.Response, err error) (bool, error) {
			return err == nil && (response.StatusCode == http.StatusBadGateway ||
				response.StatusCode == http.StatusServiceUnavailable ||
				response.StatusCode == http.StatusGatewayTimeout), nil
		},
		Backoff: retry.ExponentialBackoff(100*time.Millisecond, 2, 0.1), MinWait: 50 * time.Millisecond,
		MaxWait: time.Second, MaxRetry: 2,
	}
}

// credential is the login in oras' words, for this registry alone.
func (r *remote) credential(_ context.Context, host string) (auth.Credential, error) {
	switch {
	case r.login.Anonymous() || host != r.name.Host():
		return auth.EmptyCredential, nil
	case r.login.Username == credential.DockerToken:
		return auth.Credential{RefreshToken: r.login.Token.Reveal()}, nil
	}
	return auth.Credential{Username: r.login.Username, Password: r.login.Token.Reveal()}, nil
}

const maxManifest = 4 << 20 // bytes, as registries have it

// manifest reads an index or a manifest, and verifies that it is what was asked for.
func (r *remote) manifest(ctx context.Context, ref string) (ocispec.Descriptor, []byte, error) {
	var desc ocispec.Descriptor
	var body io.ReadCloser
	err := r.first(func() (err error) {
		desc, body, err = r.repo.FetchReference(ctx, ref)
		return err
	})
	if err != nil {
		return desc, nil, err
	}
	defer body.Close()
	if desc.Size > maxManifest {
		return desc, nil, errManifestTooLarge
	}
	if asked := digest.Digest(ref); asked.Validate() == nil {
		desc.Digest = asked
	}
	text, err := content.ReadAll(body, desc)
	return desc, text, err
}

// first sends what may be the first request, which finds out whether the registry speaks TLS.
func (r *remote) first(send func() error) error {
	err := send()
	if isPlain(err) && r.gate.plain {
		r.gate.scheme, r.repo.PlainHTTP = "http", true
		err = send()
	}
	return err
}

// layer reads a layer to its end, and verifies its size and digest.
func (r *remote) layer(ctx context.Context, desc ocispec.Descriptor, progress *meter,
	read func(io.Reader) error,
) error {
	body, err := r.repo.Blobs().Fetch(ctx, desc)
	if err != nil {
		return err
	}
	defer body.Close()
	verified := content.NewVerifyReader(readFunc(func(p []byte) (int, error) {
		n, err := body.Read(p)
		progress.add(n)
		return n, err
	}), desc)
	if err := read(verified); err != nil {
		return err
	}
	return verified.Verify()
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

var _ io.Reader = readFunc(nil)

// The media types of Docker, which came before those of OCI.
const (
	dockerList     = "application/vnd.docker.distribution.manifest.list.v2+json"
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	dockerConfig   = "application/vnd.docker.container.image.v1+json"
	dockerLayer    = "application/vnd.docker.image.rootfs.diff.tar.gzip"
	dockerPlain    = "application/vnd.docker.image.rootfs.diff.tar"
)

const (
	maxIndexes = 3   // one in the other
	maxLayers  = 256 // twice what container runtimes take
)

// resolve finds the layers of the image for a platform, or of a chart its archive alone, and the digest of what the
// reference names.
func (r *remote) resolve(ctx context.Context, platform string) (root ocispec.Descriptor, found parts, err error) {
	ref := r.name.Reference.Reference
	for range maxIndexes + 1 {
		desc, text, err := r.manifest(ctx, ref)
		if err != nil {
			return root, parts{}, err
		}
		if root.Digest == "" {
			root = desc
		}
		switch desc.MediaType {
		case ocispec.MediaTypeImageIndex, dockerList:
			var index ocispec.Index
			if err := json.Unmarshal(text, &index); err != nil {
				return root, parts{}, r.notAnImage("its index is not valid: %v", err)
			}
			chosen, err := r.choose(index.Manifests, platform)
			if err != nil {
				return root, parts{}, err
			}
			ref = chosen.String()
		case ocispec.MediaTypeImageManifest, dockerManifest:
			found, err := r.parts(text)
			return root, found, err
		default:
			return root, parts{}, r.notAnImage("its manifest has the media type %q", desc.MediaType)
		}
	}
	return root, parts{}, r.notAnImage("it has more than %d indexes, one in the other", maxIndexes)
}

// choose picks the image for a platform out of an index. One that is alone is for every platform.
func (r *remote) choose(manifests []ocispec.Descriptor, platform string) (digest.Digest, error) {
	images := slices.DeleteFunc(slices.Clone(manifests), func(d ocispec.Descriptor) bool {
		// What buildkit adds about an image is not an image.
		return d.Annotations["vnd.docker.reference.type"] != "" || platformOf(d) == "unknown/unknown"
	})
	var chosen []ocispec.Descriptor
	for _, of := range []string{platform, ""} {
		if len(chosen) == 0 {
			chosen = slices.DeleteFunc(slices.Clone(images),
				func(d ocispec.Descriptor) bool { return platformOf(d) != of })
		}
	}
	if len(chosen) == 0 && len(images) == 1 {
		chosen = images
	}
	if len(chosen) == 0 {
		var platforms []string
		for _, d := range images {
			platforms = append(platforms, platformOf(d))
		}
		slices.Sort(platforms)
		platforms = slices.Compact(platforms)
		return "", fault.New(fault.NotFound, "image %s has no platform %s, only %q", r.name, platform,
			strings.Join(platforms, ", ")).
			WithHint("name the digest of the image that you want, or build it for %s", platform)
	}
	if err := chosen[0].Digest.Validate(); err != nil {
		return "", r.notAnImage("its index has the digest %q: %v", string(chosen[0].Digest), err)
	}
	return chosen[0].Digest, nil
}

func platformOf(d ocispec.Descriptor) string {
	if d.Platform == nil || d.Platform.OS == "" && d.Platform.Architecture == "" {
		return ""
	}
	return d.Platform.OS + "/" + d.Platform.Architecture
}

// parts are what a manifest names.
type parts struct {
	chart  bool // then the one layer is its archive
	layers []ocispec.Descriptor
	about  about
}

// parts reads a manifest, which has to be that of an image or of a chart.
func (r *remote) parts(text []byte) (found parts, err error) {
	var manifest ocispec.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		return parts{}, r.notAnImage("its manifest is not valid: %v", err)
	}
	switch config := manifest.Config.MediaType; {
	case config == chartConfig:
		found.chart = true
		found.layers, err = r.archive(manifest.Layers)
		found.about = aboutChart(manifest)
	case config != ocispec.MediaTypeImageConfig && config != dockerConfig:
		err = r.notAnImage("it is an artifact of the type %q", cmp.Or(manifest.ArtifactType, config))
	default:
		found.layers, err = r.layers(manifest.Layers)
	}
	if err != nil {
		return parts{}, err
	}
	for n, layer := range found.layers {
		if err := layer.Digest.Validate(); err != nil || layer.Size < 0 {
			return parts{}, r.notAnImage("its layer %d has the digest %q and %d bytes", n+1, string(layer.Digest),
				layer.Size)
		}
	}
	return found, nil
}

// layers are those of an image.
func (r *remote) layers(layers []ocispec.Descriptor) ([]ocispec.Descriptor, error) {
	switch {
	case len(layers) == 0:
		return nil, r.notAnImage("it has no layers")
	case len(layers) > maxLayers:
		return nil, r.notAnImage("it has %d layers, more than %d", len(layers), maxLayers)
	}
	for n, layer := range layers {
		switch layer.MediaType {
		case ocispec.MediaTypeImageLayer, ocispec.MediaTypeImageLayerGzip, dockerLayer, dockerPlain:
		default:
			return nil, r.notAnImage("its layer %d has the type %q", n+1, layer.MediaType).
				WithHint("build the image with layers of tar files, with gzip or without")
		}
	}
	return layers, nil
}

// check compares the layers with the limits, before any of them is read.
func (p Puller) check(name reference, layers []ocispec.Descriptor) error {
	var size int64
	for _, layer := range layers {
		if layer.Size > p.Limits.Transfer-size {
			return tooLarge("image %s has layers of more than %d KiB", name, p.Limits.Transfer>>10)
		}
		size += layer.Size
	}
	return nil
}
