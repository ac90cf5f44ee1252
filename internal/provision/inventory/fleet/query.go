package fleet

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Query says which workspaces are meant: those that match all of it.
type Query struct {
	Namespace string // empty for all namespaces
	ID        string // empty for any
	// Owners, Blueprints and Stages are alternatives; none means any.
	Owners, Blueprints []string
	Stages             []v1.Stage
	// Labels is a label selector as kubectl has it.
	Labels string
	// Events asks for the events that Kubernetes recorded about each workspace. It
	// is meant for a query with an ID.
	Events bool
	// Claims has those that the pods mount watched as well, and the events about them: for
	// who has to know why a pod waits before anybody asks.
	Claims bool
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
	if len(q.Owners) > 0 {
		add(kube.LabelUsername, selection.In, lower(q.Owners)...)
	}
	if len(q.Blueprints) > 0 {
		add(kube.LabelBlueprint, selection.In, slices.Clone(q.Blueprints)...)
	}
	return metav1.ListOptions{LabelSelector: selector.String()}, nil
}

// matches is the part of the query that only a reading answers.
func (q Query) matches(w v1.Workspace) bool {
	return len(q.Stages) == 0 || slices.Contains(q.Stages, w.Stage)
}

// lower: usernames are in lower case, however they are typed.
func lower(names []string) []string {
	lowered := make([]string, len(names))
	for i, name := range names {
		lowered[i] = strings.ToLower(name)
	}
	return lowered
}
