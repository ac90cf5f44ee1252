package identity

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/userstring"
)

// stub is a provider that gives the same answers for every user.
type stub struct {
	user      User
	userErr   error
	custom    *blueprint.Source
	customErr error
	silent    bool // does not answer at all
}

func (s stub) Resolve(ctx context.Context, _ string) (User, error) {
	if s.silent {
		<-ctx.Done()
		return User{}, ctx.Err()
	}
	return s.user, s.userErr
}

func (s stub) Caller(context.Context) (string, error) { return s.user.Username, s.userErr }

func (s stub) Custom(context.Context, userstring.UserString) (*blueprint.Source, error) {
	return s.custom, s.customErr
}

func link(name string, s stub) Provider {
	return Provider{Name: name, Users: s, Repositories: s, Timeout: time.Second}
}

// The first one that knows the user wins; one that cannot be reached ends it,
// for it might have said that the user is locked.
func TestChain(t *testing.T) {
	knows := func(status Status) stub {
		return stub{user: User{Username: "alice", Status: status, Provider: "test"}}
	}
	stranger := stub{userErr: Unknown("alice", "test")}
	down := stub{userErr: errors.New("connection refused")}
	for name, test := range map[string]struct {
		chain        Chain
		code         fault.Code
		reason, says string
	}{
		"known":                   {Chain{link("a", knows(Active))}, "", "", ""},
		"known to the second":     {Chain{link("a", stranger), link("b", knows(Active))}, "", "", ""},
		"known before the outage": {Chain{link("a", knows(Active)), link("b", down)}, "", "", ""},
		"unknown everywhere": {
			Chain{link("a", stranger), link("b", stranger)},
			fault.Unauthenticated,
			ReasonUnknown, "user alice is unknown to a, b",
		},
		"locked": {
			Chain{link("a", knows(Locked)), link("b", knows(Active))},
			fault.PermissionDenied,
			ReasonLocked, "user alice is locked",
		},
		"invalid": {
			Chain{link("a", knows(Invalid))},
			fault.PermissionDenied, ReasonInvalid,
			"user alice is invalid",
		},
		"unreachable": {
			Chain{link("a", down)},
			fault.Unavailable, ReasonUnavailable,
			"identity provider a could not be reached: connection refused",
		},
		"unreachable, known later": {
			Chain{link("a", down), link("b", knows(Active))},
			fault.Unavailable,
			ReasonUnavailable, "provider a",
		},
		"unknown, then unreachable": {
			Chain{link("a", stranger), link("b", down)},
			fault.Unavailable, ReasonUnavailable,
			"provider b",
		},
		"silent": {
			Chain{link("a", stub{silent: true}), link("b", knows(Active))},
			fault.Unavailable,
			ReasonUnavailable, "a did not answer within 1s",
		},
		"no provider of users": {
			Chain{{Name: "git", Repositories: knows(Active)}},
			fault.Unauthenticated,
			ReasonUnknown, "no configured identity provider knows users",
		},
		"an outage with its own hint": {Chain{link("a",
			stub{userErr: fault.New(fault.Unavailable, "down").
				WithHint("do this")})}, fault.Unavailable, ReasonUnavailable, "down"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := test.chain.Resolve(t.Context(), "alice")
				if fault.CodeOf(err) != test.code || fault.ReasonOf(err) != test.reason || err != nil &&
					!strings.Contains(err.Error(), test.says) {
					t.Errorf("%s %s: %v", fault.CodeOf(err), fault.ReasonOf(err), err)
				}
				if err != nil && fault.From(err).Hint == "" {
					t.Errorf("%v has no hint", err)
				}
			})
		})
	}
}

// A cancelled call is not reported as an outage of the provider.
func TestChainCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := fault.New(fault.Interrupted, "interrupted")
	cancel(stop)
	if _, err := (Chain{link("a", stub{silent: true})}).Resolve(ctx, "alice"); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestChainCustom(t *testing.T) {
	u, _ := userstring.Parse("alice~repo=org/proj")
	has, none := stub{custom: &blueprint.Source{Name: "here"}}, stub{}
	elsewhere, unseen := stub{customErr: ErrNotResponsible},
		stub{customErr: git.NotFound("github.com/org/proj", credential.Credential{})}
	for name, test := range map[string]struct {
		chain Chain
		found bool
		code  fault.Code
	}{
		"first":                   {Chain{link("a", has), link("b", none)}, true, ""},
		"second":                  {Chain{link("a", elsewhere), link("b", has)}, true, ""},
		"not seen by the first":   {Chain{link("a", unseen), link("b", has)}, true, ""},
		"the repository has none": {Chain{link("a", none), link("b", unseen)}, false, ""},
		"seen by none":            {Chain{link("a", unseen), link("b", elsewhere)}, false, fault.NotFound},
		"none reads repositories": {Chain{link("a", elsewhere)}, false, fault.InvalidArgument},
		"users, not repositories": {Chain{{Name: "a", Users: has}}, false, fault.InvalidArgument},
		"unreachable, had by second": {
			Chain{link("a", stub{customErr: errors.New("down")}), link("b", has)},
			false,
			fault.Unavailable,
		},
	} {
		custom, err := test.chain.Custom(t.Context(), u)
		if (custom != nil) != test.found || fault.CodeOf(err) != test.code {
			t.Errorf("%s: %v, %v", name, custom, err)
		}
	}
	named, _ := userstring.Parse("alice~dev")
	if custom, err := (Chain{link("a", elsewhere)}).Custom(t.Context(), named); custom != nil || err != nil {
		t.Errorf("an unknown name: %v, %v", custom, err)
	}
}

// The first provider that knows the caller answers; providers of
// repositories know no users.
func TestChainCaller(t *testing.T) {
	knows, down := stub{user: User{Username: "alice"}}, stub{userErr: errors.New("down")}
	for name, test := range map[string]struct {
		chain  Chain
		caller string
		code   fault.Code
	}{
		"known":        {Chain{link("a", stub{}), link("b", knows)}, "alice", ""},
		"unknown":      {Chain{link("a", stub{}), {Name: "b", Repositories: knows}}, "", fault.InvalidArgument},
		"unreachable":  {Chain{link("a", down), link("b", knows)}, "", fault.Unavailable},
		"no providers": {nil, "", fault.InvalidArgument},
	} {
		if caller, err := test.chain.Caller(t.Context()); caller != test.caller || fault.CodeOf(err) != test.code {
			t.Errorf("%s: %q, %v", name, caller, err)
		}
	}
}

func TestMayUse(t *testing.T) {
	for _, test := range []struct {
		allowed []string
		may     bool
	}{
		{[]string{"*"}, true},
		{[]string{"dev"}, true},
		{[]string{"other", "dev"}, true},
		{[]string{"other"}, false},
		{nil, false},
	} {
		err := User{Username: "alice", Provider: "file", Blueprints: test.allowed}.MayUse("dev")
		if (err == nil) != test.may || err != nil &&
			(fault.CodeOf(err) != fault.PermissionDenied || fault.ReasonOf(err) != ReasonNotAllowed) {
			t.Errorf("%v: %v", test.allowed, err)
		}
	}
}

// counting counts how often it is asked.
type counting struct {
	Users
	asked atomic.Int32
}

func (c *counting) Resolve(_ context.Context, username string) (User, error) {
	c.asked.Add(1)
	if username == "nobody" {
		return User{}, errors.New("unknown")
	}
	return User{Username: username}, nil
}

// However many ask at the same time, each username is asked about once.
func TestCached(t *testing.T) {
	source := &counting{}
	p := Cached(source)
	var wg sync.WaitGroup
	for range 20 {
		for _, name := range []string{"alice", "bob", "nobody"} {
			wg.Go(func() {
				user, err := p.Resolve(t.Context(), name)
				if (err != nil) != (name == "nobody") || err == nil && user.Username != name {
					t.Errorf("%s is %+v, %v", name, user, err)
				}
			})
		}
	}
	wg.Wait()
	if n := source.asked.Load(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}
