// Package unpack turns the sources of bundles into content, and writes on the bundles what has come of that: at a
// terminal at once, in a server by fetches that hold no worker.
package unpack

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/dependency"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/reconcile"
)

// Unpacker unpacks bundles.
type Unpacker struct {
	Objects resource.Objects
	// Fetcher fetches sources; which bundle it works on, and whom it reports to, is added.
	Fetcher source.Fetcher
	// System is the namespace in which the instances of the bundles are recorded.
	System string
	// BaseURL is where content is served; empty if nobody does.
	BaseURL string
	// Served fetches content that other programs serve.
	Served server.Client
	// Fetches are those of a server; nil if nobody waits for a worker. Kind is that of what is worked on, for them.
	Fetches *Fetches
	Kind    string
	Now     func() time.Time
}

// Bundle unpacks a bundle, if it is of our class and is not unpacked yet. It returns an
// error for the caller that is to try again; the reason is in the bundle's status.
func (u Unpacker) Bundle(ctx context.Context, name string, steps *event.Steps) error {
	b, err := u.Objects.Bundle(ctx, name)
	if err == nil && u.Fetches != nil {
		u.Fetches.end(name, living(b))
	}
	if err != nil || b == nil || !resource.IsOurs(b.Spec.ProvisionerClassName) || b.DeletionTimestamp != nil ||
		resource.IsElsewhere(b, u.System) {
		return err
	}
	c, err := u.Unpack(ctx, b, steps)
	if c != nil {
		_ = c.Close()
	}
	return err
}

// living is the UID of a bundle that stays; empty for one that does not.
func living(b *v1alpha1.Bundle) types.UID {
	if b == nil || b.DeletionTimestamp != nil {
		return ""
	}
	return b.UID
}

// IsUnpacked is true for a bundle whose status is that of its spec, wherever it is served.
func (Unpacker) IsUnpacked(b *v1alpha1.Bundle) bool {
	return b.Status.Phase == v1alpha1.PhaseUnpacked && b.Status.ObservedGeneration == b.Generation &&
		b.Status.ResolvedSource != nil
}

// contentURL is where the content of a bundle is served; empty if nobody does.
func (u Unpacker) contentURL(bundle string) string {
	if u.BaseURL == "" {
		return ""
	}
	return server.URL(u.BaseURL, bundle)
}

// Unpack gives the content of a bundle: of one that is unpacked, again from what it was
// resolved to. Any other one is fetched and checked, and its status is written.
func (u Unpacker) Unpack(ctx context.Context, b *v1alpha1.Bundle, steps *event.Steps) (*content.Content, error) {
	if u.IsUnpacked(b) {
		if err := u.name(ctx, b); err != nil {
			return nil, err
		}
		return u.Content(ctx, b, steps)
	}
	if err := u.unpacking(ctx, b); err != nil {
		return nil, err
	}
	if u.IsUnpacked(b) {
		return u.Content(ctx, b, steps)
	}
	c, resolved, err := u.fetch(ctx, b, steps)
	if err == nil {
		err = check(b, c)
	}
	if err != nil {
		if c != nil {
			_ = c.Close()
		}
		if reconcile.IsAfter(err) {
			return nil, err
		}
		return nil, u.unpackFailed(ctx, b, err)
	}
	return c, u.WriteUnpacked(ctx, b, c, resolved)
}

// checkDigest refuses a bundle whose annotation says since it was unpacked that its content
// is another: the permission to change an annotation is not one to choose what is installed.
func checkDigest(b *v1alpha1.Bundle) error {
	wanted := b.Annotations[v1alpha1.AnnotationContent]
	if wanted == "" || wanted == resource.DigestOf(b) {
		return nil
	}
	return fault.New(fault.Failed, "the annotation %s of bundle %s has been changed to %s: its content is %s",
		v1alpha1.AnnotationContent, b.Name, wanted, b.Status.Digest).
		WithHint("the content of a bundle stays what it is: kubectl annotate bundles.core.rukpak.io %s "+
			"--overwrite %s=%s", b.Name, v1alpha1.AnnotationContent, b.Status.Digest)
}

// Content is that of a bundle which is unpacked: from the cache, or derived again.
func (u Unpacker) Content(ctx context.Context, b *v1alpha1.Bundle, steps *event.Steps) (*content.Content, error) {
	if err := checkDigest(b); err != nil {
		return nil, err
	}
	if b.Status.Digest != "" {
		if c, err := u.Fetcher.Cache.Get(b.Status.Digest); err == nil {
			return c, nil
		}
	}
	c, _, err := u.fetched(ctx, b, steps, resolvedSource(b))
	if err != nil {
		return nil, err
	}
	return asUnpacked(b, c)
}

// asUnpacked is the content of a bundle, if it is what was unpacked.
func asUnpacked(b *v1alpha1.Bundle, c *content.Content) (*content.Content, error) {
	if digest := resource.DigestOf(b); digest != "" && digest != c.Digest {
		_ = c.Close()
		return nil, fault.New(fault.Failed, "the source of bundle %s has changed: its content was %s and is %s", b.Name,
			digest, c.Digest).
			WithHint("what it was resolved to should not change, nor what a chart depends on, which Chart.lock pins; " +
				"install it again under a new version")
	}
	return c, nil
}

// Upload writes the content of a bundle that is an upload, and is not unpacked yet.
func (u Unpacker) Upload(ctx context.Context, b *v1alpha1.Bundle, c *content.Content, steps *event.Steps) error {
	if b.Spec.Source.Type != v1alpha1.SourceUpload || u.IsUnpacked(b) {
		return nil
	}
	return u.fetcher(b, steps).Upload(ctx, c)
}

// fetcher fetches the source of a bundle, and reports on the way.
func (u Unpacker) fetcher(b *v1alpha1.Bundle, steps *event.Steps) source.Fetcher {
	f := u.Fetcher
	f.Bundle, f.Progress = b, steps.Progress
	return f
}

// resolvedSource is what the source of a bundle was resolved to, or the source.
func resolvedSource(b *v1alpha1.Bundle) v1alpha1.Source {
	if b.Status.ResolvedSource != nil {
		return *b.Status.ResolvedSource
	}
	return b.Spec.Source
}

// fetch fetches the source of a bundle that is not unpacked.
func (u Unpacker) fetch(ctx context.Context, b *v1alpha1.Bundle, steps *event.Steps) (*content.Content,
	v1alpha1.Source, error,
) {
	c, resolved, err := u.fetched(ctx, b, steps, b.Spec.Source)
	if wanted := b.Annotations[v1alpha1.AnnotationContent]; err == nil && wanted != "" && wanted != c.Digest {
		_ = c.Close()
		return nil, resolved, fault.New(fault.Failed, "the content is %s, and not %s as the bundle says", c.Digest,
			wanted).
			WithHint("it has changed, or a chart that it depends on without Chart.lock has: install it again")
	}
	return c, resolved, err
}

// fetched is what a source of a bundle has; in a server, when it is there.
func (u Unpacker) fetched(ctx context.Context, b *v1alpha1.Bundle, steps *event.Steps,
	from v1alpha1.Source,
) (*content.Content, v1alpha1.Source, error) {
	if u.Fetches == nil {
		return dependency.Pinned(resource.ChartsOf(b)).Fetch(ctx, u.fetcher(b, steps), from)
	}
	return u.Fetches.get(ctx, b, sourceText(b, from), u.Kind, u.fetching(b, from))
}

// fetching fetches a source of a bundle in a server.
func (u Unpacker) fetching(b *v1alpha1.Bundle, from v1alpha1.Source) doFetch {
	f, from, pinned := u.Fetcher, copyOf(from), dependency.Pinned(resource.ChartsOf(b))
	f.Bundle = &v1alpha1.Bundle{ObjectMeta: *b.DeepCopy()} // which goes on being changed
	return func(ctx context.Context, progress func(v1.Progress)) (*content.Content, v1alpha1.Source, error) {
		f := f
		f.Progress = progress
		return pinned.Fetch(ctx, f, from)
	}
}

// check makes sure that the content is of the class's format. Values are not known yet.
func check(b *v1alpha1.Bundle, c *content.Content) error {
	wanted := resource.FormatOf(b.Spec.ProvisionerClassName)
	found, err := format.RecognizeAs(c.FS(), wanted)
	if err != nil {
		return err
	}
	if found.Base() != wanted {
		return fault.New(fault.InvalidArgument, "the content is %s, and class %s is for %s", found,
			b.Spec.ProvisionerClassName, wanted).
			WithHint("use the class %s", resource.ClassOf(found))
	}
	return nil
}
