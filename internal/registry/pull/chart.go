package pull

import (
	"context"
	"io"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/fault"
)

// The media types of a chart, as `helm push` writes it.
const (
	chartConfig   = "application/vnd.cncf.helm.config.v1+json"
	chartLayer    = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	chartOldLayer = "application/tar+gzip" // of Helm before 3.7
)

// archive finds the archive of a chart among its layers: there is exactly one. What else there may be, such as its
// provenance, is about it.
func (r *remote) archive(layers []ocispec.Descriptor) (found []ocispec.Descriptor, _ error) {
	for _, layer := range layers {
		if layer.MediaType == chartLayer || layer.MediaType == chartOldLayer {
			found = append(found, layer)
		}
	}
	if len(found) != 1 {
		return nil, r.notAnImage("it is a chart with %d archives, not one", len(found)).
			WithHint("push the chart again, with `helm push`")
	}
	return found, nil
}

// Archive gives the archive of a chart to read, which reads it to its end. An error of read is returned as it is. The
// digest of the archive has been verified when there is no error.
func (i *Image) Archive(ctx context.Context, read func(io.Reader) error) error {
	progress := meter{tell: i.puller.Progress, total: i.layers[0].Size}
	progress.add(0)
	err := i.remote.layer(ctx, i.layers[0], &progress, func(r io.Reader) error {
		if err := read(r); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, r) // the rest counts for the digest
		return err
	})
	if err != nil {
		return i.remote.fault(ctx, err)
	}
	return nil
}

const (
	maxTags    = 20_000 // names
	maxTag     = 128    // bytes, as the specification of registries has it
	tagsOnPage = 1000
)

// Tags are the tags of a repository, in the order of the registry.
func (p Puller) Tags(ctx context.Context, repository string) (tags []string, _ error) {
	name, err := parse(repository)
	if err != nil {
		return nil, err
	}
	r, err := p.open(ctx, name)
	if err != nil {
		return nil, err
	}
	r.repo.TagListPageSize = tagsOnPage
	err = r.first(func() error {
		tags = nil
		return r.repo.Tags(ctx, "", func(page []string) error {
			page = slices.DeleteFunc(page, func(tag string) bool { return len(tag) > maxTag })
			if tags = append(tags, page...); len(tags) > maxTags {
				return fault.New(fault.InvalidArgument, "repository %s has more than %d tags", name.repository(),
					maxTags).
					WithReason(ReasonTooLarge).WithHint("name the tag or the digest of the chart")
			}
			return nil
		})
	})
	if err != nil {
		return nil, r.fault(ctx, r.list(err))
	}
	return tags, nil
}

// tagOf is a version as a tag has it, which takes no plus sign.
func tagOf(version string) string { return strings.ReplaceAll(version, "+", "_") }

// VersionOf is the version that a tag of a chart is for.
func VersionOf(tag string) string { return strings.ReplaceAll(tag, "_", "+") }
