package provider

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// fault explains an error of the API.
func (g *gitHub) fault(ctx context.Context, err error) error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known // of the source of the token
	}
	c, tokenErr := g.token.Get(ctx)
	if tokenErr != nil {
		return tokenErr
	}
	if limit, ok := errors.AsType[*github.RateLimitError](err); ok {
		return limited(c, " until "+limit.Rate.Reset.UTC().Format(time.RFC3339))
	}
	if abuse, ok := errors.AsType[*github.AbuseRateLimitError](err); ok {
		if abuse.RetryAfter != nil {
			return limited(c, "; retry after "+abuse.RetryAfter.String())
		}
		return limited(c, "")
	}
	answer, ok := errors.AsType[*github.ErrorResponse](err)
	if !ok || answer.Response == nil {
		return credential.WithoutURL(err)
	}
	switch status := answer.Response.StatusCode; {
	case status == http.StatusUnauthorized:
		return fault.New(fault.Unauthenticated, "%s rejected the token from %s", g.host, c.From).
			WithReason(credential.ReasonRejected).
			WithHint("it may have expired: create a new one, or log in again with `gh auth login`")
	case status == http.StatusForbidden:
		return fault.New(fault.PermissionDenied, "%s refused the request %s: %s", g.host, c.With(), answer.Message).
			WithReason(credential.ReasonRejected).
			WithHint("the token needs read:org for members of an organization, and read access to the repository")
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests:
		return errors.New("status " + answer.Response.Status)
	default:
		return fault.New(fault.Internal, "%s: status %s: %s", g.host, answer.Response.Status, answer.Message)
	}
}

func limited(c credential.Credential, until string) error {
	err := fault.New(fault.Unavailable, "rate limit exceeded%s", until)
	if c.Anonymous() {
		return err.WithHint("wait, or give the provider a token, which has a higher limit (GITHUB_TOKEN, or `cli: true` after `gh auth login`)")
	}
	return err.WithHint("wait, or use another token than that from %s", c.From)
}

func isStatus(err error, status int) bool {
	answer, ok := errors.AsType[*github.ErrorResponse](err)
	return ok && answer.Response != nil && answer.Response.StatusCode == status
}
