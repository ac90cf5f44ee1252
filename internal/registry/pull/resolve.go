package pull

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/fault"
)

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

// resolve finds the layers of the image for a platform, and the digest of what the
// reference names.
func (r *remote) resolve(ctx context.Context, platform string) (root digest.Digest, layers []ocispec.Descriptor,
	err error,
) {
	ref := r.name.Reference.Reference
	for range maxIndexes + 1 {
		desc, text, err := r.manifest(ctx, ref)
		if err != nil {
			return "", nil, err
		}
		if root == "" {
			root = desc.Digest
		}
		switch desc.MediaType {
		case ocispec.MediaTypeImageIndex, dockerList:
			var index ocispec.Index
			if err := json.Unmarshal(text, &index); err != nil {
				return "", nil, r.notAnImage("its index is not valid: %v", err)
			}
			chosen, err := r.choose(index.Manifests, platform)
			if err != nil {
				return "", nil, err
			}
			ref = chosen.String()
		case ocispec.MediaTypeImageManifest, dockerManifest:
			layers, err := r.layers(text)
			return root, layers, err
		default:
			return "", nil, r.notAnImage("its manifest has the media type %q", desc.MediaType)
		}
	}
	return "", nil, r.notAnImage("it has more than %d indexes, one in the other", maxIndexes)
}

// choose picks the image for a platform out of an index. One that is alone is for
// every platform.
func (r *remote) choose(manifests []ocispec.Descriptor, platform string) (digest.Digest, error) {
	images := slices.DeleteFunc(slices.Clone(manifests), func(d ocispec.Descriptor) bool {
		// What buildkit adds about an image is none.
		return d.Annotations["vnd.docker.reference.type"] != "" || platformOf(d) == "unknown/unknown"
	})
	var chosen []ocispec.Descriptor
	for _, of := range []string{platform, ""} {
		if len(chosen) == 0 {
			chosen = slices.DeleteFunc(slices.Clone(images), func(d ocispec.Descriptor) bool { return platformOf(d) != of })
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

// layers reads a manifest, which has to be that of an image.
func (r *remote) layers(text []byte) ([]ocispec.Descriptor, error) {
	var manifest ocispec.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, r.notAnImage("its manifest is not valid: %v", err)
	}
	switch config := manifest.Config.MediaType; {
	case config != ocispec.MediaTypeImageConfig && config != dockerConfig:
		return nil, r.notAnImage("it is an artifact of the type %q", cmp.Or(manifest.ArtifactType, config))
	case len(manifest.Layers) == 0:
		return nil, r.notAnImage("it has no layers")
	case len(manifest.Layers) > maxLayers:
		return nil, r.notAnImage("it has %d layers, more than %d", len(manifest.Layers), maxLayers)
	}
	for n, layer := range manifest.Layers {
		switch layer.MediaType {
		case ocispec.MediaTypeImageLayer, ocispec.MediaTypeImageLayerGzip, dockerLayer, dockerPlain:
		default:
			return nil, r.notAnImage("its layer %d has the type %q", n+1, layer.MediaType).
				WithHint("build the image with layers of tar files, with gzip or without")
		}
		if err := layer.Digest.Validate(); err != nil || layer.Size < 0 {
			return nil, r.notAnImage("its layer %d has the digest %q and %d bytes", n+1, string(layer.Digest), layer.Size)
		}
	}
	return manifest.Layers, nil
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
