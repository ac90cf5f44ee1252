// Package limit says how many workspaces there may be: by the configuration, and by the quotas of the cluster.
package limit

import (
	"context"
	"fmt"
	"slices"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/userstring"
)

// Allowance is how many workspaces there may be in a namespace; nil is no limit. It is shared by
// those that are provisioned together, and knows which of them it has admitted.
type Allowance struct {
	perUser, all *int

	mu       sync.Mutex
	admitted []v1.Workspace // they are not there to be counted until they are created
}

// NewAllowance is the allowance of these limits, of which nil is none.
func NewAllowance(perUser, all *int) *Allowance {
	if perUser == nil && all == nil {
		return nil
	}
	return &Allowance{perUser: perUser, all: all}
}

// Count is the workspaces that there are in a namespace.
type Count struct {
	There []v1.Workspace
	Err   error // that kept them from being counted
}

// CountIn counts the workspaces of the reader's namespace: with pods, and without by what there is of
// them, kept storage as well.
func CountIn(ctx context.Context, r inventory.Reader, place lifecycle.Place) (c Count) {
	podless := recorded.Podless{
		Reader: r, Place: place, Query: fleet.Query{Namespace: r.Client.Namespace, Kept: true},
	}
	c.There, c.Err = podless.Count(ctx)
	return c
}

// Admit refuses a workspace that is not there yet if it is one too many.
func (a *Allowance) Admit(user userstring.UserString, namespace string, found inventory.Found, c Count) error {
	if a == nil || found.Pod != nil || found.Record != nil || found.Workload.Injected() {
		return nil
	}
	if c.Err != nil {
		return c.Err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.refuses(user, namespace, a.with(namespace, c.There)); err != nil {
		return err
	}
	a.admitted = append(a.admitted, v1.Workspace{ID: user.ID(), Namespace: namespace, UserString: user.String()})
	return nil
}

// with are workspaces of a namespace, and those that were admitted since they were counted.
func (a *Allowance) with(namespace string, there []v1.Workspace) []v1.Workspace {
	all := slices.Clone(there)
	for _, w := range a.admitted {
		known := func(o v1.Workspace) bool { return o.ID == w.ID }
		if w.Namespace == namespace && !slices.ContainsFunc(all, known) {
			all = append(all, w)
		}
	}
	return all
}

// refuses returns an error if one more workspace is too many. One that is there already, in
// whatever state, is none more.
func (a *Allowance) refuses(user userstring.UserString, namespace string, there []v1.Workspace) error {
	own := 0
	for _, w := range there {
		if w.ID == user.ID() {
			return nil
		}
		if ownedBy(w, user.User) {
			own++
		}
	}
	var problems []string
	if a.perUser != nil && own >= *a.perUser {
		problems = append(problems, fmt.Sprintf("%s has %s in namespace %s, and %s (limits.workspacesPerUser)",
			userstring.Owner(user.User), count(own), namespace, atMost(*a.perUser)))
	}
	if all := len(there); a.all != nil && all >= *a.all {
		problems = append(problems, fmt.Sprintf("namespace %s has %s, and %s (limits.workspaces)", namespace,
			count(all), atMost(*a.all)))
	}
	if len(problems) == 0 {
		return nil
	}
	err := fault.New(fault.Failed, "%s", problems[0])
	if len(problems) > 1 {
		err = fault.New(fault.Failed, "there are too many workspaces to create %s", user)
		err.Problems = problems
	}
	if own == 0 {
		return err.WithHint("raise the limit in the configuration, or ask your administrator")
	}
	return err.WithHint("delete one of them, those without pods and kept storage count as well: `%s`",
		fault.Command("berth", "status", "--owner", userstring.Owner(user.User), "--namespace", namespace, "--all"))
}

// ownedBy reports whether a workspace is a user's.
func ownedBy(w v1.Workspace, user string) bool {
	if u, err := userstring.ParseCanonical(w.UserString); err == nil {
		return u.User == user
	}
	return w.Owner == userstring.Owner(user)
}

func count(n int) string { return english.Count(n, "workspace") }

func atMost(n int) string {
	switch n {
	case 0:
		return "none are allowed"
	case 1:
		return "at most 1 is allowed"
	}
	return fmt.Sprintf("at most %d are allowed", n)
}
