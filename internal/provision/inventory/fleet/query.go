package fleet

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// Query says which workspaces are meant: those that match all of it.
type Query struct {
	Namespace string // empty for all namespaces
	ID        string // empty for any
	// Owners, Blueprints and Stages are alternatives; none means any. Owners are written as
	// user strings begin.
	Owners, Blueprints []string
	Stages             []v1.Stage
	// Labels is a label selector as kubectl has it.
	Labels string
	// Events asks for the events that Kubernetes recorded about each workspace. It
	// is meant for a query with an ID.
	Events bool
	// Claims has those that the pods mount watched as well, and the events about them: for
	// callers that have to know why a pod waits before anybody asks.
	Claims bool
	// Installed leaves out those of which nothing but storage is left, where workspaces without
	// pods are asked for: what can be started, stopped or deleted is left.
	Installed bool
	// Kept has those that are deleted, and of which storage is kept, where workspaces without
	// pods are asked for.
	Kept bool
}

// watchesClaims is true for one workspace, too.
func (q Query) watchesClaims() bool { return q.Claims || q.ID != "" }

// options are the part of the query that the API server answers.
func (q Query) options() (metav1.ListOptions, error) {
	selector, err := labels.Parse(q.Labels)
	if err != nil {
		return metav1.ListOptions{}, fault.New(fault.InvalidArgument, "--selector %q: %w", q.Labels, err).
			WithHint("for example: --selector k8shell.io/organization=example,team!=red")
	}
	add := func(label string, operator selection.Operator, values ...string) {
		for i, value := range values {
			values[i] = kube.LabelValue(value)
		}
		// LabelValue makes any value legal.
		if requirement, err := labels.NewRequirement(label, operator, values); err == nil {
			selector = selector.Add(*requirement)
		}
	}
	if q.ID == "" {
		add(kube.LabelCanonicalID, selection.Exists)
	} else {
		add(kube.LabelCanonicalID, selection.Equals, q.ID)
	}
	owners, err := q.ownerLabels()
	if err != nil {
		return metav1.ListOptions{}, err
	}
	if len(owners) > 0 {
		add(kube.LabelUsername, selection.In, owners...)
	}
	if len(q.Blueprints) > 0 {
		add(kube.LabelBlueprint, selection.In, slices.Clone(q.Blueprints)...)
	}
	return metav1.ListOptions{LabelSelector: selector.String()}, nil
}

// matches is the part of the query that only a reading answers.
func (q Query) matches(w v1.Workspace) bool {
	return q.IsOwned(w) && (len(q.Stages) == 0 || slices.Contains(q.Stages, w.Stage))
}

// IsOwned is true for a workspace of one of the owners, by the whole name.
func (q Query) IsOwned(w v1.Workspace) bool {
	return len(q.Owners) == 0 || slices.ContainsFunc(q.Owners, func(owner string) bool {
		u, err := userstring.Parse(owner)
		return err == nil && userstring.Owner(u.User) == w.Owner
	})
}

// ownerLabels are the labels that the workspaces of the owners can have, also those that
// were made when a username ended in a shorter hash there.
func (q Query) ownerLabels() (values []string, err error) {
	for _, owner := range q.Owners {
		u, err := userstring.Parse(owner)
		if err == nil && u.Form() != userstring.Implicit {
			err = fault.New(fault.InvalidArgument, "%s is a workspace, not a user", owner).
				WithHint("write %s", fault.Word(userstring.Owner(u.User)))
		}
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "--owner: %w", err).WithHint("%s", fault.From(err).Hint)
		}
		values = append(values, userstring.OwnerLabel(u.User), kube.LabelValue(u.User))
	}
	slices.Sort(values)
	return slices.Compact(values), nil
}
