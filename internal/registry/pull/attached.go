package pull

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/berthdev/berth/internal/fault"
)

// The media types of what cosign attaches to an image, and helm to a chart.
const (
	TypePayload     = "application/vnd.dev.cosign.simplesigning.v1+json"
	TypeBundle      = "application/vnd.dev.sigstore.bundle.v0.3+json"
	chartProvenance = "application/vnd.cncf.helm.chart.provenance.v1.prov"
)

// The limits of what is attached: an image usually has one signature, and a few of them when keys change.
const (
	maxAttached   = 64      // of each kind
	maxAttachment = 1 << 20 // bytes of one
	maxReferrers  = 1000    // that are listed, of all types
	maxConfig     = 1 << 20 // bytes
)

// about is what a manifest says about a chart.
type about struct {
	config     ocispec.Descriptor
	provenance *ocispec.Descriptor // nil for none
}

func aboutChart(manifest ocispec.Manifest) about {
	a := about{config: manifest.Config}
	for _, layer := range manifest.Layers {
		if layer.MediaType == chartProvenance {
			a.provenance = &layer
		}
	}
	return a
}

// Attachment is something about an image that its registry has beside it.
type Attachment struct {
	MediaType   string
	Annotations map[string]string
	Content     []byte
}

// Attachments are what may be signatures of exactly this image, one after the other as they are asked for: those of
// cosign's tag, and the bundles that refer to the image.
func (i *Image) Attachments(ctx context.Context) iter.Seq2[Attachment, error] {
	return func(yield func(Attachment, error) bool) {
		for _, list := range []func(context.Context) ([]ocispec.Descriptor, error){i.tagged, i.referring} {
			layers, err := list(ctx)
			if err != nil {
				yield(Attachment{}, i.remote.fault(ctx, err))
				return
			}
			for _, layer := range layers {
				text, err := i.remote.small(ctx, layer, maxAttachment)
				if err != nil {
					yield(Attachment{}, i.remote.fault(ctx, err))
					return
				}
				if !yield(Attachment{layer.MediaType, layer.Annotations, text}, nil) {
					return
				}
			}
		}
	}
}

// tagged are the signatures of the tag that cosign derives from the digest of an image.
func (i *Image) tagged(ctx context.Context) ([]ocispec.Descriptor, error) {
	of := i.root.Digest
	if of.Algorithm() != digest.SHA256 { // which the payload of such a signature has
		return nil, nil
	}
	manifest, err := i.remote.about(ctx, of.Algorithm().String()+"-"+of.Encoded()+".sig")
	if err != nil || manifest == nil {
		return nil, err
	}
	return only(manifest.Layers, TypePayload)
}

// referring are the bundles of the artifacts that have the image as their subject.
func (i *Image) referring(ctx context.Context) (found []ocispec.Descriptor, _ error) {
	var artifacts []ocispec.Descriptor
	seen := 0
	err := i.remote.repo.Referrers(ctx, i.root, TypeBundle, func(page []ocispec.Descriptor) error {
		if seen += len(page); seen > maxReferrers {
			return tooMany("%d artifacts refer to it", maxReferrers)
		}
		for _, d := range page {
			if d.ArtifactType == TypeBundle {
				artifacts = append(artifacts, d)
			}
		}
		if len(artifacts) > maxAttached {
			return tooMany("%d signatures refer to it", maxAttached)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errdef.ErrNotFound) && !isMissing(err) {
		return nil, i.remote.list(err)
	}
	for _, artifact := range artifacts {
		if artifact.Digest.Validate() != nil {
			continue
		}
		manifest, err := i.remote.about(ctx, artifact.Digest.String())
		if err != nil {
			return nil, err
		}
		if manifest == nil || manifest.Subject == nil || manifest.Subject.Digest != i.root.Digest {
			continue // a registry lists what it likes
		}
		layers, err := only(manifest.Layers, TypeBundle)
		if err != nil {
			return nil, err
		}
		if found = append(found, layers...); len(found) > maxAttached {
			return nil, tooMany("it has %d signatures", maxAttached)
		}
	}
	return found, nil
}

// only are the layers of a type, which are not too many and not too large.
func only(layers []ocispec.Descriptor, mediaType string) (found []ocispec.Descriptor, _ error) {
	for _, layer := range layers {
		switch {
		case layer.MediaType != mediaType || layer.Digest.Validate() != nil:
			continue
		case layer.Size < 0 || layer.Size > maxAttachment:
			return nil, tooMany("a signature of it has %d KiB", maxAttachment>>10)
		}
		if found = append(found, layer); len(found) > maxAttached {
			return nil, tooMany("it has %d signatures", maxAttached)
		}
	}
	return found, nil
}

func tooMany(format string, most int) error {
	return fault.New(fault.Failed, "the signatures of the image are not read: more than "+format, most).
		WithReason(ReasonTooLarge).
		WithHint("remove the signatures that nobody needs any more from the registry: `cosign clean`")
}

// about is a manifest that says something about the image; nil if there is none, or it is none.
func (r *remote) about(ctx context.Context, ref string) (*ocispec.Manifest, error) {
	_, text, err := r.manifest(ctx, ref)
	if errors.Is(err, errdef.ErrNotFound) || isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	manifest := &ocispec.Manifest{}
	if json.Unmarshal(text, manifest) == nil {
		return manifest, nil
	}
	return nil, nil
}

// isMissing is true for the answer of a registry that has no such thing, in whatever words.
func isMissing(err error) bool {
	response, answered := errors.AsType[*errcode.ErrorResponse](err)
	return answered && response.StatusCode == http.StatusNotFound
}

// small reads a blob of a few bytes, and verifies it.
func (r *remote) small(ctx context.Context, desc ocispec.Descriptor, most int64) ([]byte, error) {
	if desc.Digest.Validate() != nil || desc.Size < 0 || desc.Size > most {
		return nil, r.notAnImage("it has a part of %d bytes where at most %d are expected", desc.Size, most)
	}
	body, err := r.repo.Blobs().Fetch(ctx, desc)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return content.ReadAll(body, desc)
}

// Provenance is what helm has pushed along with a chart; empty without one. File is the name of the chart's archive,
// as helm packs it, and sum its digest, which Archive verifies.
func (i *Image) Provenance(ctx context.Context) (text []byte, file string, sum digest.Digest, err error) {
	if !i.Chart || i.about.provenance == nil {
		return nil, "", "", nil
	}
	if text, err = i.remote.small(ctx, *i.about.provenance, maxAttachment); err == nil {
		file, err = i.fileName(ctx)
	}
	if err != nil {
		return nil, "", "", i.remote.fault(ctx, err)
	}
	return text, file, i.layers[0].Digest, nil
}

// fileName is the name of the archive of the chart that the reference names. The registry cannot pass off another chart
// or version: what its configuration says, of which the provenance has to be then, is the last part of the repository,
// as `helm push` has it, and the tag, if that is a version.
func (i *Image) fileName(ctx context.Context) (string, error) {
	text, err := i.remote.small(ctx, i.about.config, maxConfig)
	if err != nil {
		return "", err
	}
	var chart struct{ Name, Version string }
	if err := json.Unmarshal(text, &chart); err != nil || chart.Name == "" || chart.Version == "" ||
		strings.ContainsAny(chart.Name+chart.Version, "/\\") {
		return "", i.remote.notAnImage("its configuration has no name and version of a chart").
			WithHint("push the chart again, with `helm push`")
	}
	if chart.Name != path.Base(i.name.Repository) || !isFor(VersionOf(i.name.Reference.Reference), chart.Version) {
		return "", fault.New(fault.Failed, "%s has chart %s %s, of another name or version than the reference", i.name,
			fault.Line(chart.Name), fault.Line(chart.Version)).
			WithReason(ReasonMismatch).
			WithHint("push charts with `helm push`, which names repository and tag after them, or sign it with cosign")
	}
	return chart.Name + "-" + chart.Version + ".tgz", nil
}

// isFor is false if a tag is a version, and not this one: 1.2 is for all of 1.2.
func isFor(tag, version string) bool {
	if _, err := semver.NewVersion(tag); err != nil {
		return true
	}
	tag, version = strings.TrimPrefix(tag, "v"), strings.TrimPrefix(version, "v")
	return version == tag || !strings.ContainsAny(tag, "-+") && strings.HasPrefix(version, tag+".")
}

// Digest is that of what the reference names: an index, or a manifest.
func (i *Image) Digest() digest.Digest { return i.root.Digest }
