package identity

import (
	"context"
	"errors"
	"os/exec"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/berthdev/berth/internal/fault"
)

const howToLogIn = "check the spelling; if it is private, configure a provider with a login under identity.providers: " +
	"`kind: github` or `kind: git`, with tokenEnv, tokenFile or cli"

// fault gives an error of the remote, or of the way to it, the code, words and
// hint that a user needs.
func (r *remoteRepository) fault(ctx context.Context, err error) error {
	if told, ok := errors.AsType[*fault.Error](err); ok {
		return told
	}
	if ctx.Err() != nil {
		return ctx.Err() // the chain says whose time was over
	}
	name := r.user.RepoOwner + "/" + r.user.RepoName
	c, tokenErr := r.token.get(ctx)
	if tokenErr != nil {
		return tokenErr
	}
	switch {
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return notVisible(fault.NotFound, "repository %s is not at %s, or may not be seen %s", name, r.where, c.who()).WithHint(howToLogIn)
	case errors.Is(err, transport.ErrAuthenticationRequired) && c.anonymous():
		return notVisible(fault.Unauthenticated, "%s asks for a login for repository %s: it is private, or does not exist", r.where, name).WithHint(howToLogIn)
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return fault.New(fault.Unauthenticated, "%s does not accept the login of %s for repository %s", r.where, c.From, name).
			WithReason(reasonTokenRejected).WithHint("it may have expired: make a new one, or configure another")
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return notVisible(fault.PermissionDenied, "%s does not let you read repository %s %s", r.where, name, c.who()).
			WithHint("ask for the right to read it, or configure another login")
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return fault.New(fault.NotFound, "repository %s at %s is empty: it has no commit", name, r.where)
	case isNoCommit(err), r.where == "file" && strings.Contains(err.Error(), "sending upload-req message"):
		// A git on this machine that has shown its branches and then ends while it
		// is being asked, does so because it has not got what it is asked for. There
		// is no type for that either.
		return noRef(r.where, r.user)
	case errors.Is(err, errTooLarge):
		return fault.New(fault.Failed, "repository %s at %s is too large to be read for one file: %w", name, r.where, errTooLarge).
			WithHint("use `kind: github` in identity.providers, or a remote that allows partial clones (uploadpack.allowFilter)")
	case errors.Is(err, exec.ErrNotFound):
		return fault.New(fault.InvalidArgument, "repositories at %s are read with git, which is not installed", r.where)
	}
	return unavailable(KindGit+" ("+r.where+")", plain(err))
}

// isNoCommit is what a remote says that has no such commit, or does not give it
// away. There is no type for it.
func isNoCommit(err error) bool {
	return errors.Is(err, plumbing.ErrObjectNotFound) || strings.Contains(err.Error(), "not our ref") ||
		errors.Is(err, transport.ErrEmptyUploadPackRequest)
}

// plain is an error of the way to a remote without its address.
func plain(err error) error {
	if unexpected, ok := errors.AsType[*plumbing.UnexpectedError](err); ok {
		err = unexpected.Err
	}
	if status, ok := errors.AsType[*githttp.Err](err); ok {
		return errors.New("it answers " + status.Response.Status)
	}
	return transportError(err)
}
