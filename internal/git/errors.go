package git

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// The reasons of errors.
const (
	ReasonNotVisible     = "REPOSITORY_NOT_VISIBLE"
	ReasonHostNotTrusted = "HOST_NOT_TRUSTED"
)

// Location names a file of a repository: github.com/org/proj@main:dir/file.
func Location(repository, ref, path string) string {
	if ref != "" {
		repository += "@" + ref
	}
	return repository + ":" + path
}

// NoRef is the error of a ref that a repository does not have.
func NoRef(repository, ref string) error {
	return fault.New(fault.NotFound, "repository %s has no branch, tag or commit %q", repository, ref).
		WithHint("check the ref, which is case-sensitive; without one, the default branch is used")
}

// NotFound is the error of a repository that does not exist, or that the
// credential does not show.
func NotFound(repository string, c credential.Credential) *fault.Error {
	return notVisible(fault.NotFound, "repository %s not found, or not visible %s", repository, c.With())
}

// NotAFile is the error of something else at the path of a file.
func NotAFile(location string) error {
	return fault.New(fault.InvalidArgument, "%s is not a regular file", location).
		WithHint("a directory, link or submodule cannot be read as a file")
}

// TooLarge is the error of a file above a limit.
func TooLarge(location string, limit int64) *fault.Error {
	return fault.New(fault.InvalidArgument, "%s is larger than %d MiB", location, limit>>20)
}

func notVisible(code fault.Code, format string, args ...any) *fault.Error {
	return fault.New(code, format, args...).WithReason(ReasonNotVisible)
}

func (r Remote) unavailable(err error) error {
	return fault.New(fault.Unavailable, "repository %s: %w", r, err).
		WithHint("check the address and the network, or try again in a while")
}

// fault explains an error of the remote, or of the way to it. The end of the
// context is returned as it is.
func (r Remote) fault(ctx context.Context, err error, ref string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	c, credentialErr := r.Credential.Get(ctx)
	if credentialErr != nil {
		return credentialErr
	}
	switch {
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return NotFound(r.String(), c).WithHint("%s", r.LoginHint)
	case errors.Is(err, transport.ErrAuthenticationRequired) && c.Anonymous():
		return notVisible(fault.Unauthenticated,
			"%s requires a login for repository %s, which is private or does not exist", r.URL.Host, r).
			WithHint("%s", r.LoginHint)
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return fault.New(fault.Unauthenticated, "%s rejected the login from %s for repository %s", r.URL.Host, c.From, r).
			WithReason(credential.ReasonRejected).WithHint("it may have expired: create a new one, or configure another")
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return notVisible(fault.PermissionDenied, "no permission to read repository %s %s", r, c.With()).
			WithHint("ask for read access, or configure another login")
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return fault.New(fault.NotFound, "repository %s is empty: it has no commit", r).WithHint("push a commit to it")
	case isMissingCommit(err), r.URL.Scheme == "file" && strings.Contains(err.Error(), syscall.EPIPE.Error()):
		// A local git that lists its refs and exits before it has read the whole
		// request does not have the commit.
		return NoRef(r.String(), ref)
	case errors.Is(err, errUnpackedTooLarge):
		return r.tooLarge("unpacks to", r.Limits.Unpacked)
	case errors.Is(err, errDeltasTooLarge):
		return r.tooLarge("has deltas that take", maxHeld)
	case errors.Is(err, errObjectTooLarge):
		return r.tooLarge("or a directory of it takes", maxMeta)
	case errors.Is(err, errTooManyObjects):
		return fault.New(fault.Failed, "repository %s is too large: a single commit has more than %d objects", r, maxObjects).
			WithHint("%s", partialHint)
	case errors.Is(err, exec.ErrNotFound):
		return fault.New(fault.InvalidArgument, "reading repository %s requires git, which is not installed", r).
			WithHint("install git")
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return r.tooLarge("sends", r.Limits.Transfer)
	}
	return r.unavailable(withoutURL(err))
}

func (r Remote) tooLarge(verb string, limit int64) error {
	return fault.New(fault.Failed, "repository %s is too large: a single commit %s more than %d KiB", r, verb, limit>>10).
		WithHint("%s", partialHint)
}

const partialHint = "use a remote that allows partial clones (uploadpack.allowFilter), or read it through the API of its host"

// isMissingCommit recognizes the answer of a remote that does not have a commit,
// or does not send it. There is no type for it.
func isMissingCommit(err error) bool {
	return errors.Is(err, plumbing.ErrObjectNotFound) || strings.Contains(err.Error(), "not our ref") ||
		errors.Is(err, transport.ErrEmptyUploadPackRequest)
}

// withoutURL strips the URL from an error of the transport.
func withoutURL(err error) error {
	if unexpected, ok := errors.AsType[*plumbing.UnexpectedError](err); ok {
		err = unexpected.Err
	}
	if status, ok := errors.AsType[*githttp.Err](err); ok {
		return errors.New("status " + status.Response.Status)
	}
	return credential.WithoutURL(err)
}
