package provider

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

// gitHub knows the users of GitHub, or of an organization there, and the
// .k8shell.yaml of repositories, through the API.
type gitHub struct {
	api  *github.Client
	host string // of the API, for messages
	web  string // of the repositories, for origins
	// organization limits the users to its members.
	organization string
	token        *credential.Source
}

const maxAnswer = 4 << 20 // bytes: a file of 1 MiB, encoded, and what is around it

// newGitHub makes the client of the API at base.
func newGitHub(base *url.URL, organization string, token *credential.Source) (*gitHub, error) {
	client := credential.NewClient(base, token, credential.Bearer, maxAnswer)
	address := base.String()
	api, err := github.NewClient(github.WithHTTPClient(client), github.WithURLs(&address, nil),
		github.WithUserAgent("berth"))
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "identity provider github: %w", err)
	}
	return &gitHub{
		api: api, host: base.Host, web: strings.TrimPrefix(base.Host, "api."),
		organization: organization, token: token,
	}, nil
}

// Resolve asks for the user, and for the membership where an organization is
// configured. What users write about their company is not believed.
func (g *gitHub) Resolve(ctx context.Context, username string) (identity.User, error) {
	account, _, err := g.api.Users.Get(ctx, url.PathEscape(username))
	if isStatus(err, http.StatusNotFound) {
		return identity.User{}, identity.Unknown(username, KindGitHub)
	}
	if err != nil {
		return identity.User{}, g.fault(ctx, err)
	}
	if account.GetType() != "" && account.GetType() != "User" {
		return identity.User{}, identity.Unknown(username, KindGitHub) // an organization or a bot
	}
	user := identity.NewUser(username, KindGitHub)
	user.Fullname, user.Email = account.GetName(), account.GetEmail()
	if account.SuspendedAt != nil {
		user.Status = identity.Locked
	}
	if g.organization == "" {
		return user, nil
	}
	member, _, err := g.api.Organizations.GetOrgMembership(ctx, url.PathEscape(username),
		url.PathEscape(g.organization))
	if isStatus(err, http.StatusNotFound) || err == nil && member.GetState() != "active" {
		return identity.User{}, identity.Unknown(username, KindGitHub)
	}
	if err != nil {
		return identity.User{}, g.fault(ctx, err)
	}
	user.Organization = g.organization
	if role := member.GetRole(); role != "" {
		user.Roles = []string{role}
	}
	return user, nil
}

// Caller is whose token it is.
func (g *gitHub) Caller(ctx context.Context) (string, error) {
	c, err := g.token.Get(ctx)
	if err != nil || c.Anonymous() {
		return "", err
	}
	account, _, err := g.api.Users.Get(ctx, "")
	if isStatus(err, http.StatusForbidden) {
		return "", nil // the token belongs to an app, not to a user
	}
	if err != nil {
		return "", g.fault(ctx, err)
	}
	return strings.ToLower(account.GetLogin()), nil
}

// Custom reads the file at the ref as it was typed, and then lowered: the API knows branches, tags and commits alike.
func (g *gitHub) Custom(ctx context.Context, u userstring.UserString) (*blueprint.Source, error) {
	if u.Form() != userstring.Repo || strings.Count(u.Repository(), "/") > 1 {
		return nil, identity.ErrNotResponsible
	}
	var err error
	for _, ref := range refs(u) {
		var custom *blueprint.Source
		if custom, err = g.read(ctx, u, ref); err == nil {
			return custom, nil
		}
		if !isStatus(err, http.StatusNotFound) {
			return nil, g.fault(ctx, err)
		}
	}
	return nil, g.missing(ctx, u, err)
}

// repository names one in messages: github.com/org/proj.
func (g *gitHub) repository(u userstring.UserString) string {
	return g.web + "/" + u.Repository()
}

// read gives the file at one ref.
func (g *gitHub) read(ctx context.Context, u userstring.UserString, ref string) (*blueprint.Source, error) {
	at := &github.RepositoryContentGetOptions{Ref: ref}
	file, _, _, err := g.api.Repositories.GetContents(ctx, url.PathEscape(u.RepoOwner), url.PathEscape(u.RepoName),
		blueprint.CustomFile, at)
	if err != nil {
		return nil, err
	}
	where := git.Location(g.repository(u), ref, blueprint.CustomFile)
	if file == nil || file.GetType() != "file" {
		return nil, git.NotAFile(where)
	}
	if file.GetSize() > yamldoc.MaxFile {
		return nil, git.TooLarge(where, yamldoc.MaxFile)
	}
	text, err := file.GetContent()
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s cannot be decoded: %w", where, err)
	}
	return &blueprint.Source{Name: where, Text: []byte(text)}, nil
}

// missing finds out what a 404 is about: the API says it of a file that is not there, of a ref that is not there, and
// of a repository that may not be seen. Nil means that only the file is missing.
func (g *gitHub) missing(ctx context.Context, u userstring.UserString, notFound error) error {
	_, _, err := g.api.Repositories.Get(ctx, url.PathEscape(u.RepoOwner), url.PathEscape(u.RepoName))
	if isStatus(err, http.StatusNotFound) {
		c, tokenErr := g.token.Get(ctx)
		if tokenErr != nil {
			return tokenErr
		}
		return git.NotFound(g.repository(u), c).
			WithHint("check the spelling; if it is private, give the github provider a token that may read it")
	}
	if err != nil {
		return g.fault(ctx, err)
	}
	var answer *github.ErrorResponse
	if u.Ref != "" && errors.As(notFound, &answer) &&
		strings.Contains(strings.ToLower(answer.Message), "no commit found") {
		return git.NoRef(g.repository(u), u.RefTyped)
	}
	return nil
}

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
		return err.WithHint("wait, or give the provider a token, which has a higher limit (GITHUB_TOKEN, or `cli: " +
			"true` after `gh auth login`)")
	}
	return err.WithHint("wait, or use another token than that from %s", c.From)
}

func isStatus(err error, status int) bool {
	answer, ok := errors.AsType[*github.ErrorResponse](err)
	return ok && answer.Response != nil && answer.Response.StatusCode == status
}
