package identity

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// fault gives an error of the API the code, words and hint that a user needs.
func (g *GitHub) fault(ctx context.Context, err error) error {
	if told, ok := errors.AsType[*fault.Error](err); ok {
		return told // by the source of the token
	}
	c, tokenErr := g.token.Get(ctx)
	if tokenErr != nil {
		return tokenErr
	}
	if limit, ok := errors.AsType[*github.RateLimitError](err); ok {
		return g.limited(c, "until "+limit.Rate.Reset.UTC().Format(time.RFC3339))
	}
	if abuse, ok := errors.AsType[*github.AbuseRateLimitError](err); ok {
		if abuse.RetryAfter != nil {
			return g.limited(c, "for "+abuse.RetryAfter.String())
		}
		return g.limited(c, "for a while")
	}
	var answer *github.ErrorResponse
	if !errors.As(err, &answer) || answer.Response == nil {
		return unavailable(KindGitHub+" ("+g.host+")", credential.WithoutURL(err))
	}
	switch status := answer.Response.StatusCode; {
	case status == http.StatusUnauthorized:
		return fault.New(fault.Unauthenticated, "%s does not accept the token of %s", g.host, c.From).
			WithReason(credential.ReasonRejected).WithHint("it may have expired: make a new one, or log in again with `gh auth login`")
	case status == http.StatusForbidden:
		return fault.New(fault.PermissionDenied, "%s refuses this %s: %s", g.host, c.With(), answer.Message).
			WithReason(credential.ReasonRejected).WithHint("a token needs read:org for members of an organization, and read access to the repository")
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests:
		return unavailable(KindGitHub+" ("+g.host+")", errors.New("it answers "+answer.Response.Status))
	default:
		return fault.New(fault.Internal, "%s answers %s: %s", g.host, answer.Response.Status, answer.Message)
	}
}

// limited is a server that does not want to be asked any more.
func (g *GitHub) limited(c credential.Credential, until string) error {
	err := unavailable(KindGitHub+" ("+g.host+")", errors.New("its rate limit is used up "+until))
	if c.Anonymous() {
		return err.WithHint("wait, or give the provider a token: there are many more requests with one (GITHUB_TOKEN, or `cli: true` after `gh auth login`)")
	}
	return err.WithHint("wait, or use another token than that of %s", c.From)
}

func isStatus(err error, status int) bool {
	var answer *github.ErrorResponse
	return errors.As(err, &answer) && answer.Response != nil && answer.Response.StatusCode == status
}
