package pull

import (
	"archive/tar"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// The reasons of errors.
const (
	ReasonRefused     = "CONTENT_REFUSED"    // an entry that a bundle cannot have
	ReasonTooLarge    = "CONTENT_TOO_LARGE"  // it is over a limit
	ReasonNotAnImage  = "NOT_AN_IMAGE"       // it is something else, or nothing that is valid
	ReasonMismatch    = "CONTENT_MISMATCH"   // the registry sends something else than was asked for
	ReasonUntrusted   = "SERVER_NOT_TRUSTED" // a login, or a request, was to be sent to somebody else
	ReasonRateLimited = "RATE_LIMITED"       // by the registry
	ReasonNotVisible  = "IMAGE_NOT_VISIBLE"  // it does not exist, or takes another login
)

var errManifestTooLarge = errors.New("its manifest is too large")

func tooLarge(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, format, args...).WithReason(ReasonTooLarge).
		WithHint("leave out of the image what does not belong to the bundle")
}

func (r *remote) notAnImage(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, "%s is not an image that can be read: %s", r.name,
		fmt.Sprintf(format, args...)).
		WithReason(ReasonNotAnImage).WithHint("name a container image, or a chart that `helm push` has pushed")
}

// malformed is the error of a layer that is no tar file. Errors of the connection are returned as they are.
func malformed(err error) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	if !corrupt && !errors.Is(err, tar.ErrHeader) && !errors.Is(err, tar.ErrFieldTooLong) &&
		!errors.Is(err, gzip.ErrHeader) && !errors.Is(err, gzip.ErrChecksum) {
		return err
	}
	return fault.New(fault.Failed, "it is not a valid tar file: %w", err).WithReason(ReasonNotAnImage).
		WithHint("build and push the image again")
}

// fault explains an error of the registry, or of the way to it. The end of the context is returned as it is.
func (r *remote) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	response, answered := errors.AsType[*errcode.ErrorResponse](err)
	switch {
	case answered:
		return r.refused(response) //nolint:contextcheck // the answer has been read
	case errors.Is(err, errdef.ErrNotFound):
		return fault.New(fault.NotFound, "image %s not found", r.name).WithReason(ReasonNotVisible).
			WithHint("check the name and the tag; some registries hide an image like this that takes a login")
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return r.unauthorized()
	case errors.Is(err, errManifestTooLarge):
		return tooLarge("image %s has a manifest of more than %d KiB", r.name, maxManifest>>10)
	case errors.Is(err, content.ErrMismatchedDigest), errors.Is(err, content.ErrTrailingData),
		errors.Is(err, content.ErrInvalidDescriptorSize):
		return fault.New(fault.Failed, "registry %s sends something else than it was asked for image %s: %w",
			r.name.Registry, r.name, err).
			WithReason(ReasonMismatch).WithHint("do not use the image; ask the administrator of the registry")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.Unavailable, "image %s: the answer of registry %s ends too early", r.name,
			r.name.Registry).
			WithHint("try again in a while")
	case isPlain(err):
		return fault.New(fault.Failed, "registry %s does not use TLS", r.name.Registry).WithReason(ReasonUntrusted).
			WithHint("ask the administrator of the registry; without TLS anybody on the way can replace the image")
	}
	return fault.New(fault.Unavailable, "registry %s cannot be reached for image %s: %w", r.name.Registry, r.name,
		withoutURL(err)).
		WithHint("check the name of the registry and the network")
}

// list explains an error of a list: what is no list is not an error of the way to the registry. A connection that ends
// before there is an answer is one.
func (r *remote) list(err error) error {
	_, garbled := errors.AsType[*json.SyntaxError](err)
	_, other := errors.AsType[*json.UnmarshalTypeError](err)
	_, unanswered := errors.AsType[*url.Error](err)
	if unanswered || !garbled && !other && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	return fault.New(fault.Failed, "registry %s answers with a list that is not valid, or is cut off, for image %s",
		r.name.Registry, r.name).
		WithReason(ReasonMismatch).WithHint("ask the administrator of the registry")
}

// isPlain is true for the error of a server that does not speak TLS. It may answer in
// words that net/http does not take for HTTP.
func isPlain(err error) bool {
	_, garbled := errors.AsType[tls.RecordHeaderError](err)
	return garbled || errors.Is(err, http.ErrSchemeMismatch)
}

// within adds to an error where it was met.
func within(where string, err error) error {
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", where, err)
	}
	copied := *known
	copied.Message = where + ": " + known.Message
	return &copied
}

// refused explains an answer that is no success.
func (r *remote) refused(response *errcode.ErrorResponse) error {
	switch response.StatusCode {
	case http.StatusUnauthorized:
		return r.unauthorized()
	case http.StatusForbidden:
		return fault.New(fault.PermissionDenied, "registry %s does not allow to pull image %s %s", r.name.Registry,
			r.name, r.with()).
			WithReason(ReasonNotVisible).WithHint("ask for access, or use another login")
	case http.StatusNotFound:
		return r.fault(context.Background(), errdef.ErrNotFound)
	case http.StatusTooManyRequests:
		return fault.New(fault.Unavailable, "registry %s limits the rate of requests %s", r.name.Registry, r.with()).
			WithReason(ReasonRateLimited).
			WithHint("try again later; many registries allow more with a login")
	}
	return fault.New(fault.Unavailable, "registry %s answers %d %s for image %s", r.name.Registry, response.StatusCode,
		http.StatusText(response.StatusCode), r.name).
		WithHint("try again in a while")
}

func (r *remote) unauthorized() error {
	if r.login.Anonymous() {
		searched := ""
		if r.login.From != "" {
			searched = "; " + r.login.From + " has none for it"
		}
		return fault.New(fault.Unauthenticated,
			"registry %s requires a login for image %s, which is private or does not exist%s", r.name.Registry, r.name,
			searched).
			WithReason(ReasonNotVisible).WithHint("check the name; log in with `docker login %s`, or name a pull "+
			"secret: `berth bundle install --source-secret`, "+
			"or source.image.pullSecret of the bundle", r.name.Registry)
	}
	return fault.New(fault.Unauthenticated, "registry %s rejected the login from %s for image %s", r.name.Registry,
		r.login.From, r.name).
		WithReason(credential.ReasonRejected).
		WithHint("it may have expired: log in again, or create the pull secret again")
}

// with describes the login, without its secret.
func (r *remote) with() string {
	if r.login.Anonymous() {
		return "without a login"
	}
	return "with the login from " + r.login.From
}

// withoutURL strips the URLs from an error, whose queries may hold a secret.
func withoutURL(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		return withoutURL(inner.Err)
	}
	return err
}
