package identity

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/userstring"
)

// Provider is a configured provider of a chain.
type Provider struct {
	// Name is its kind and place, for messages.
	Name string
	// Timeout of each answer; none if zero.
	Timeout time.Duration
	// Users is nil if the provider knows no users, Repositories if it has no blueprints.
	Users        Users
	Repositories Repositories
}

// Chain asks providers in order. It implements Users and Repositories.
type Chain []Provider

// Resolve asks until one knows the user. Only an unknown user lets the next one be asked: a provider that could not be
// reached might have said that the user is locked. A user who is known and may not work ends it, too.
func (c Chain) Resolve(ctx context.Context, username string) (User, error) {
	var asked []string
	for _, p := range c {
		if p.Users == nil {
			continue
		}
		user, err := ask(ctx, p, func(ctx context.Context) (User, error) { return p.Users.Resolve(ctx, username) })
		if fault.ReasonOf(err) == ReasonUnknown {
			asked = append(asked, p.Name)
			continue
		}
		if err != nil {
			return User{}, err
		}
		return user, user.mayWork()
	}
	if len(asked) == 0 {
		return User{}, Unknown(username, "berth: no configured identity provider knows users")
	}
	return User{}, Unknown(username, asked...)
}

// Caller asks until one knows who the caller is.
func (c Chain) Caller(ctx context.Context) (string, error) {
	for _, p := range c {
		if caller, err := p.Caller(ctx); err != nil || caller != "" {
			return caller, err
		}
	}
	return "", fault.New(fault.InvalidArgument, "no configured identity provider knows who you are").
		WithHint("name the user: `berth provision USER`")
}

// Caller asks this provider alone; the answer is empty if it does not know.
func (p Provider) Caller(ctx context.Context) (string, error) {
	if p.Users == nil {
		return "", nil
	}
	return ask(ctx, p, p.Users.Caller)
}

// Custom asks until one has the blueprint, or sees the repository without one.
// If no provider sees it, the answer is the first one's error.
func (c Chain) Custom(ctx context.Context, u userstring.UserString) (*blueprint.Source, error) {
	var unseen []*fault.Error
	for _, p := range c {
		if p.Repositories == nil {
			continue
		}
		custom, err := ask(ctx, p, func(ctx context.Context) (*blueprint.Source,
			error,
		) {
			return p.Repositories.Custom(ctx, u)
		})
		switch {
		case errors.Is(err, ErrNotResponsible):
			continue
		case fault.ReasonOf(err) == git.ReasonNotVisible:
			unseen = append(unseen, fault.From(err))
			continue
		default:
			return custom, err
		}
	}
	switch {
	case len(unseen) > 0:
		return nil, joined(unseen)
	case u.Form() == userstring.Repo:
		return nil, fault.New(fault.InvalidArgument, "no configured identity provider reads repositories").
			WithHint("add `kind: github` or `kind: git` to identity.providers in the configuration")
	}
	return nil, nil
}

// joined is the first of several errors, with the others as its problems.
func joined(all []*fault.Error) error {
	if len(all) == 1 {
		return all[0]
	}
	first := *all[0]
	for _, err := range all {
		first.Problems = append(first.Problems, err.Message)
	}
	return &first
}

// ask bounds the time of an answer. The end of the provider's time, unlike that
// of the caller's, is an outage of the provider.
func ask[T any](ctx context.Context, p Provider, question func(context.Context) (T, error)) (T, error) {
	own, cancel := ctx, func() {}
	if p.Timeout > 0 {
		own, cancel = context.WithTimeout(ctx, p.Timeout)
	}
	defer cancel()
	answer, err := question(own)
	switch {
	case err == nil, errors.Is(err, ErrNotResponsible):
		return answer, err
	case ctx.Err() != nil:
		return answer, context.Cause(ctx)
	case own.Err() != nil:
		return answer, fault.New(fault.Unavailable, "identity provider %s did not answer within %s", p.Name, p.Timeout).
			WithReason(ReasonUnavailable).
			WithHint("try again, or set a longer `timeout` under identity.providers in the configuration")
	}
	f, ok := errors.AsType[*fault.Error](err)
	if ok && (f.Code != fault.Unavailable || f.Reason != "") {
		return answer, err
	}
	outage := fault.New(fault.Unavailable, "identity provider %s could not be reached: %w", p.Name, err).
		WithReason(ReasonUnavailable).
		WithHint("try again; if it persists, check the provider's settings under identity.providers in " +
			"the configuration")
	if ok && f.Hint != "" {
		outage.Hint = f.Hint
	}
	return answer, outage
}

// Cached resolves each username only once, for a command that works on several
// workspaces at a time. It keeps errors, too, and must not outlive the command.
func Cached(users Users) Users {
	return &cache{Users: users}
}

type cache struct {
	Users
	known sync.Map // of functions by username
}

// Resolve asks once; concurrent callers wait for the answer.
func (c *cache) Resolve(ctx context.Context, username string) (User, error) {
	known, _ := c.known.LoadOrStore(username,
		sync.OnceValues(func() (User, error) { return c.Users.Resolve(ctx, username) }))
	return known.(func() (User, error))() //nolint:forcetypeassert // nothing else is stored
}
