package git

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"unicode"

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

// NotFound is the error of a repository that does not exist, or that the credential does not show.
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

// fault explains an error of the remote, or of the way to it. The end of the context is returned as it is.
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
		return fault.New(fault.Unauthenticated, "%s rejected the login from %s for repository %s", r.URL.Host, c.From,
			r).
			WithReason(credential.ReasonRejected).WithHint("it may have expired: create a new one, or " +
			"configure another")
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return notVisible(fault.PermissionDenied, "no permission to read repository %s %s", r, c.With()).
			WithHint("ask for read access, or configure another login")
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return fault.New(fault.NotFound, "repository %s is empty: it has no commit", r).WithHint("push a commit to it")
	case isMissingCommit(err), r.URL.Scheme == "file" && strings.Contains(err.Error(), syscall.EPIPE.Error()):
		// A local git that lists its refs and exits before it has read the whole request does not have the commit.
		return NoRef(r.String(), ref)
	case errors.Is(err, errUnpackedTooLarge):
		return r.tooLarge("unpacks to", r.Limits.Unpacked)
	case errors.Is(err, errDeltasTooLarge):
		return r.tooLarge("has deltas that take", maxHeld)
	case errors.Is(err, errObjectTooLarge):
		return r.tooLarge("or a directory of it takes", maxMeta)
	case errors.Is(err, errTooManyObjects):
		return fault.New(fault.Failed, "repository %s is too large: a single commit has more than %d objects", r,
			maxObjects).
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
	return fault.New(fault.Failed, "repository %s is too large: a single commit %s more than %d KiB", r, verb,
		limit>>10).
		WithHint("%s", partialHint)
}

const partialHint = "use a remote that allows partial clones (uploadpack.allowFilter), or read it through " +
	"the API of its host"

// isMissingCommit recognizes the answer of a remote that does not have a commit, or does not send it. There is no type
// for it.
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

// sshFault classifies err by the stderr of the SSH client, or of the command that it ran. OpenSSH has one status for
// all its failures, and English only.
func (r Remote) sshFault(err error, ofClient bool, stderr string) error {
	switch {
	case isMissingCommit(err):
		return err
	case !ofClient && isMissingCommit(errors.New(stderr)):
		return errors.New(stderr) // it exited before it read the request
	case !ofClient && isMissingRepository(stderr) && r.Key != "":
		return notVisible(fault.NotFound, "repository %s not found, or not visible with the SSH key of %s", r, r.Key).
			WithHint("check the spelling, and that the key may read it")
	case !ofClient && isMissingRepository(stderr):
		return notVisible(fault.NotFound, "repository %s not found, or not visible with your SSH keys", r).
			WithHint("check the spelling; if it is private, check which key `%s` logs in with", r.sshCommand())
	case !ofClient:
	case r.Key != "":
		if known := r.keyFault(stderr); known != nil {
			return known
		}
	case strings.Contains(stderr, "HOST IDENTIFICATION HAS CHANGED"):
		return fault.New(fault.Unauthenticated,
			"the SSH host key of %s has changed: someone may be intercepting the connection, or the host has a new key",
			r.URL.Host).
			WithReason(ReasonHostNotTrusted).
			WithHint("ask the administrator of the host; if the change is theirs, remove the old key with `ssh-keygen "+
				"-R '%s'` and connect once with `%s`", r.knownHost(), r.sshCommand())
	case strings.Contains(stderr, "Host key verification failed"):
		return fault.New(fault.Unauthenticated, "the SSH host key of %s is unknown; repository %s was not read",
			r.URL.Host, r).
			WithReason(ReasonHostNotTrusted).
			WithHint("connect once with `%s`, and compare the fingerprint with the published one", r.sshCommand())
	case strings.Contains(stderr, "Permission denied ("):
		return notVisible(fault.Unauthenticated, "%s accepted none of your SSH keys for repository %s", r.URL.Host, r).
			WithHint("try `%s`; add the key to your agent with `ssh-add` (there is no prompt for its passphrase "+
				"here), or configure an https address", r.sshCommand())
	}
	if line := lastLine(stderr); line != "" {
		err = errors.New(line)
	}
	return r.unavailable(err)
}

// keyFault is sshFault of a client that has one key, and knows the hosts beside it; nil if it does not know why.
func (r Remote) keyFault(stderr string) error {
	switch {
	case strings.Contains(stderr, "HOST IDENTIFICATION HAS CHANGED"),
		strings.Contains(stderr, "Host key verification failed"):
		return fault.New(fault.Unauthenticated,
			"the SSH host key of %s is not the one that is known for it; repository %s was not read", r.URL.Host, r).
			WithReason(ReasonHostNotTrusted).
			WithHint("put the host's key into ssh-knownhosts of %s: compare `ssh-keyscan` with what its "+
				"administrator publishes", r.Key)
	case strings.Contains(stderr, "Permission denied ("):
		return notVisible(fault.Unauthenticated, "%s did not accept the SSH key of %s for repository %s", r.URL.Host,
			r.Key, r).
			WithHint("check that ssh-privatekey is a key without a passphrase that may read the repository")
	}
	return nil
}

func (r Remote) sshStartFault(err error) error {
	if !errors.Is(err, exec.ErrNotFound) {
		return err
	}
	return fault.New(fault.InvalidArgument, "reading repository %s requires ssh, which is not installed", r).
		WithHint("install the OpenSSH client, which the image of berth does not have, or use an https address")
}

// sshCommand is what a user can run to see the problem.
func (r Remote) sshCommand() string {
	command := "ssh -T "
	if port := r.URL.Port(); port != "" {
		command += "-p " + port + " "
	}
	return command + sshDestination(r.URL)
}

// knownHost is the name of the host in known_hosts.
func (r Remote) knownHost() string {
	if port := r.URL.Port(); port != "" && port != "22" {
		return "[" + r.URL.Hostname() + "]:" + port
	}
	return r.URL.Hostname()
}

// isMissingRepository knows the messages of git and of hosting services.
func isMissingRepository(stderr string) bool {
	return slices.ContainsFunc([]string{
		"Repository not found", "does not appear to be a git repository", "repository does not exist",
		"Repository does not exist", "could not be found", "no such repository",
	}, func(message string) bool { return strings.Contains(stderr, message) })
}

const maxLine = 200 // runes

// lastLine is the last line that is not empty, without control characters.
func lastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return ""
	}
	line := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, lines[len(lines)-1]))
	return string(line[:min(len(line), maxLine)])
}
