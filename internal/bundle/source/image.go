package source

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry"
	parts "github.com/berthdev/berth/internal/registry/image"
	"github.com/berthdev/berth/internal/registry/pull"
)

// platform is that of nodes, for images of several; one of content alone has none.
const platform = "linux/amd64"

// image fetches the files of an image, or of a chart, and pins it to its digest.
func (f Fetcher) image(ctx context.Context, s v1alpha1.ImageSource) (*content.Content, *v1alpha1.ImageSource, error) {
	logins, err := f.keyring(ctx, s.PullSecret)
	if err != nil {
		return nil, nil, err
	}
	puller := pull.Puller{
		Login: logins.Login, Platform: platform, Silence: cmp.Or(f.silence, maxSilence),
		Progress: f.report("Fetching " + s.Ref),
		Limits:   pull.Limits{Transfer: f.Limits.Compressed, Unpacked: f.Limits.Unpacked, Entries: f.Limits.Files},
	}
	if err := tagOf(ctx, puller, &s); err != nil {
		return nil, nil, err
	}
	image, err := puller.Resolve(ctx, s.Ref)
	if err != nil {
		return nil, nil, err
	}
	by, err := f.Verify.Image(ctx, image)
	if err != nil {
		return nil, nil, err
	}
	c, err := f.build(ctx, func(b *content.Builder) error {
		if image.Chart {
			return within("chart "+s.Ref, image.Archive(ctx, func(r io.Reader) error { return b.Tar(ctx, r) }))
		}
		files := &collector{builder: b}
		err := image.Files(ctx, files)
		return files.result("image "+s.Ref, err)
	})
	if err != nil {
		return nil, nil, err
	}
	s.Ref, c.SignedBy = image.Ref, by
	return c, &s, nil
}

// tagOf chooses the tag of a source that names a version: as with Helm, of one that is written out it is the tag, and
// the tags are listed for a range alone.
func tagOf(ctx context.Context, puller pull.Puller, s *v1alpha1.ImageSource) error {
	if s.Version == "" {
		return nil
	}
	if at := parts.Parse(s.Ref); at.Tag != "" || at.Digest != "" {
		return fault.New(fault.InvalidArgument, "image %s has a tag or a digest, and source.image.version is set",
			s.Ref).
			WithHint("leave out one of them")
	}
	if isExact(s.Version) {
		s.Ref, s.Version = s.Ref+":"+s.Version, ""
		return nil
	}
	tags, err := puller.Tags(ctx, s.Ref)
	if err != nil {
		return err
	}
	versions, of := make([]string, len(tags)), make(map[string]string, len(tags))
	for i, tag := range tags {
		versions[i] = pull.VersionOf(tag)
		of[versions[i]] = tag
	}
	version, err := choose(versions, s.Version, "repository "+s.Ref)
	if err != nil {
		return err
	}
	s.Ref, s.Version = s.Ref+":"+of[version], ""
	return nil
}

// keyring are the logins of a pull secret, which names the registry of each, or without one those that the user has
// given helm, or docker. A pull secret of a source goes along with what that depends on.
func (f Fetcher) keyring(ctx context.Context, secret string) (*registry.Keyring, error) {
	var lent *registry.Keyring
	if name := cmp.Or(secret, f.lent.secret); name != "" {
		found, err := f.Cluster.secret(ctx, name)
		if err == nil && (secret != "" || registry.IsPullSecret(found.Data)) {
			lent, err = registry.SecretKeyring(found.Data, "secret/"+name)
		}
		if err != nil || secret != "" {
			return lent, err
		}
	}
	if f.Getenv == nil {
		return lent, nil
	}
	helm, err := registry.HelmKeyring(f.Getenv)
	if err != nil {
		return nil, err
	}
	docker, err := registry.DockerKeyring(f.Getenv)
	return lent.Or(helm.Or(docker)), err
}

// collector takes files, and goes on after one that content cannot have, so that all
// of these are reported together.
type collector struct {
	builder  *content.Builder
	problems content.Problems
}

// Add implements what git and registries give files to.
func (c *collector) Add(name string, size int64, r io.Reader) error {
	if err := c.builder.Add(name, size, r); err != nil && !c.problems.Add(err) {
		return err
	}
	return nil
}

// Link implements git.Files.
func (c *collector) Link(name, target string) error {
	if err := c.builder.Link(name, target); err != nil && !c.problems.Add(err) {
		return err
	}
	return nil
}

// result is the error of everything that content cannot have, with where that is, or
// the error of the reading.
func (c *collector) result(where string, err error) error {
	if len(c.problems) == 0 {
		return err
	}
	return within(where, c.problems.Or(err))
}

// report tells how many bytes have come, now and then and at the end.
func (f Fetcher) report(message string) func(done, total int64) {
	last := time.Time{}
	return func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= progressPeriod || done == total {
			last = now
			f.tell(v1.Progress{Message: message, Done: done, Total: total})
		}
	}
}
