package unpack

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/retry"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
)

// unpacking writes that a bundle is being unpacked for the first time. One that fails
// stays so until it does not: each change of it has its instance looked at again.
func (u Unpacker) unpacking(ctx context.Context, b *v1alpha1.Bundle) error {
	if b.Status.Phase != "" {
		return nil
	}
	resource.SetUnpacked(b, v1alpha1.PhaseUnpacking,
		resource.No(v1alpha1.ReasonUnpacking, "the content is being fetched and checked"),
		u.Now())
	err := u.Objects.SetBundleStatus(ctx, b)
	if fault.CodeOf(err) != fault.Conflict {
		return err
	}
	there, readErr := u.Objects.Bundle(ctx, b.Name)
	if readErr != nil || there == nil || there.UID != b.UID {
		return err
	}
	*b = *there // another worker was faster
	return nil
}

// unpackFailed writes why. A source that could not be reached is tried again, and an upload
// that is under way is waited for.
func (u Unpacker) unpackFailed(ctx context.Context, b *v1alpha1.Bundle, err error) error {
	phase, verdict := v1alpha1.PhaseFailing, resource.No(v1alpha1.ReasonUnpackFailed, resource.Why(err))
	if fault.ReasonOf(err) == source.ReasonIncomplete {
		phase, verdict = v1alpha1.PhasePending, resource.No(v1alpha1.ReasonUnpackPending, resource.Why(err))
	}
	if ctx.Err() != nil && fault.CodeOf(err) != fault.DeadlineExceeded {
		verdict.Message = resource.Why(context.Cause(ctx))
	}
	resource.SetUnpacked(b, phase, verdict, u.Now())
	if ctx.Err() != nil {
		writing, cancel := resource.LastWord(ctx)
		if writing == nil {
			return err
		}
		defer cancel()
		ctx = writing
	}
	if statusErr := u.Objects.SetBundleStatus(ctx, b); statusErr != nil && fault.CodeOf(statusErr) != fault.Conflict {
		return statusErr
	}
	return err // in a conflict, another worker was faster, or there is something new to be tried
}

// WriteUnpacked writes what a bundle was resolved to.
func (u Unpacker) WriteUnpacked(ctx context.Context, b *v1alpha1.Bundle, c *content.Content,
	resolved v1alpha1.Source,
) error {
	b.Status.ResolvedSource, b.Status.Digest, b.Status.ContentURL = &resolved, c.Digest, u.contentURL(b.Name)
	message := fmt.Sprintf("unpacked %s (%s)", c.Digest, english.Count(c.Files, "file"))
	if c.SignedBy != "" {
		message += "; signed by " + c.SignedBy
	}
	message += u.served()
	resource.SetUnpacked(b, v1alpha1.PhaseUnpacked, resource.Yes(v1alpha1.ReasonUnpackSuccessful, message), u.Now())
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		err := u.Objects.SetBundleStatus(ctx, b)
		if fault.CodeOf(err) != fault.Conflict {
			return err
		}
		there, readErr := u.Objects.Bundle(ctx, b.Name)
		if readErr != nil || there == nil || there.UID != b.UID || there.Generation != b.Generation {
			return err
		}
		if u.IsUnpacked(there) {
			*b = *there // another worker was faster, and came to the same
			return nil
		}
		b.ResourceVersion = there.ResourceVersion // it has seen less, such as the first half of an upload
		return err
	})
}

// served says of content that is unpacked where it is not to be had.
func (u Unpacker) served() string {
	switch {
	case u.BaseURL != "":
		return ""
	case u.Fetches != nil:
		return "; it has no contentURL, as the server runs without --base-url"
	}
	return "; nobody serves it"
}

// name writes on a bundle that is unpacked where it is served now. A terminal does not know whether a server is there,
// and leaves that as it is.
func (u Unpacker) name(ctx context.Context, b *v1alpha1.Bundle) error {
	url := u.contentURL(b.Name)
	if b.Status.ContentURL == url || url == "" && u.Fetches == nil {
		return nil
	}
	b.Status.ContentURL = url
	message := ""
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionUnpacked); c != nil {
		message, _, _ = strings.Cut(c.Message, "; ")
	}
	resource.SetUnpacked(b, v1alpha1.PhaseUnpacked,
		resource.Yes(v1alpha1.ReasonUnpackSuccessful, message+u.served()), u.Now())
	err := u.Objects.SetBundleStatus(ctx, b)
	if fault.CodeOf(err) == fault.Conflict {
		return nil // another worker was faster
	}
	return err
}
