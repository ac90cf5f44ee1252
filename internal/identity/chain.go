package identity

import (
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/userstring"
)

// DefaultTimeout is how long one provider may take for one answer.
const DefaultTimeout = 10 * time.Second

// Link is one provider of a chain.
type Link struct {
	// Name is what messages call it: its kind, and where it is.
	Name string
	Provider
	// Timeout of each answer; none if zero.
	Timeout time.Duration
	// NoUsers is set for a provider that knows repositories only.
	NoUsers bool
}

// Chain asks providers in their order.
type Chain []Link

// Resolve asks until one knows the user. Only "unknown" lets the next one be
// asked: a provider that cannot be reached might have said that the user is
// locked. A user who is known and may not work ends it, too.
func (c Chain) Resolve(ctx context.Context, username string) (User, error) {
	var asked []string
	for _, link := range c {
		if link.NoUsers {
			continue
		}
		user, err := ask(ctx, link, func(ctx context.Context) (User, error) { return link.Resolve(ctx, username) })
		if fault.ReasonOf(err) == ReasonUnknown {
			asked = append(asked, link.Name)
			continue
		}
		if err != nil {
			return User{}, err
		}
		return user, user.MayWork()
	}
	if len(asked) == 0 {
		asked = []string{"berth, which is configured to ask no provider of users"}
	}
	return User{}, nobodyKnows(username, asked)
}

// Caller asks until one can tell who the caller is.
func (c Chain) Caller(ctx context.Context) (string, error) {
	for _, link := range c {
		caller, err := ask(ctx, link, link.Caller)
		if err != nil || caller != "" {
			return caller, err
		}
	}
	return "", fault.New(fault.InvalidArgument, "none of the configured identity providers can tell who you are").
		WithHint("name the user: `berth provision USER`")
}

// Custom asks until one has the blueprint, or has the repository and knows that
// there is none in it. One that does not see the repository leaves it to the
// next; what it said is the answer if nobody sees it.
func (c Chain) Custom(ctx context.Context, u userstring.UserString) (*Custom, error) {
	var unseen []*fault.Error
	for _, link := range c {
		custom, err := ask(ctx, link, func(ctx context.Context) (*Custom, error) { return link.Custom(ctx, u) })
		switch {
		case errors.Is(err, errElsewhere):
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
		return nil, together(unseen)
	case u.Form() == userstring.Repo:
		return nil, fault.New(fault.InvalidArgument, "none of the configured identity providers reads repositories").
			WithHint("add `kind: github` or `kind: git` to identity.providers in the configuration")
	}
	return nil, nil
}

// together is the first of several answers, with the others beside it.
func together(all []*fault.Error) error {
	if len(all) == 1 {
		return all[0]
	}
	first := *all[0]
	for _, err := range all {
		first.Problems = append(first.Problems, err.Message)
	}
	return &first
}

// ask gives a provider its time. That its time is over, and not the caller's,
// is an outage of the provider.
func ask[T any](ctx context.Context, link Link, question func(context.Context) (T, error)) (T, error) {
	own, cancel := ctx, func() {}
	if link.Timeout > 0 {
		own, cancel = context.WithTimeout(ctx, link.Timeout)
	}
	defer cancel()
	answer, err := question(own)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return answer, context.Cause(ctx)
	case own.Err() != nil:
		return answer, timedOut(link.Name, link.Timeout)
	case errors.Is(err, errElsewhere):
		return answer, err
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if f.Code != fault.Unavailable || f.Reason != "" {
			return answer, err
		}
		outage := unavailable(link.Name, f)
		if f.Hint != "" {
			outage.Hint = f.Hint
		}
		return answer, outage
	}
	return answer, unavailable(link.Name, err)
}
