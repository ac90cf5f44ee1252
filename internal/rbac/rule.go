// Package rbac knows which permissions each command takes: one table, which the
// check before a write, `berth doctor`, the documentation and the tests read.
package rbac

import (
	"slices"
	"strings"
)

// Rule is a permission on one resource, and why it is needed.
type Rule struct {
	Group    string // of the API; empty for the core
	Resource string // with its subresource: pods/exec
	Verbs    []string
	Why      string
	// Made limits the rule to workspaces that have such an object.
	Made bool
	// Without is what happens without the permission, where that is no failure.
	Without string
}

// Optional is true for a permission without which the command still works.
func (r Rule) Optional() bool { return r.Without != "" }

// Command is what one command takes.
type Command struct {
	// Name is how the command is typed, or the feature is switched on.
	Name string
	// About is a sentence about what the Role lets one do.
	About string
	// Cluster is true for permissions that no Role in a namespace can give.
	Cluster bool
	Rules   []Rule
}

// ObjectName is the name of the command's Role in the documentation.
func (c Command) ObjectName() string {
	return "berth-" + strings.NewReplacer("--", "", " ", "-").Replace(c.Name)
}

// Access is one verb on one resource; Name is empty where any object may be meant.
type Access struct {
	Verb, Group, Resource, Name string
}

// String is the access as messages and kubectl auth can-i have it.
func (a Access) String() string { return a.Verb + " " + a.Object() }

// Object is the resource with its group and subresource, as kubectl has it.
func (a Access) Object() string {
	resource, sub, divided := strings.Cut(a.Resource, "/")
	if a.Group != "" {
		resource += "." + a.Group
	}
	if divided {
		resource += "/" + sub
	}
	if a.Name != "" {
		resource += " " + a.Name
	}
	return resource
}

// accesses are the rule taken apart.
func (r Rule) accesses() (all []Access) {
	for _, verb := range r.Verbs {
		all = append(all, Access{Verb: verb, Group: r.Group, Resource: r.Resource})
	}
	return all
}

// On are the accesses to one resource.
func (c Command) On(resource string) (all []Access) {
	for _, r := range c.Rules {
		if r.Resource == resource {
			all = append(all, r.accesses()...)
		}
	}
	return distinct(all)
}

// Needs are the accesses without which the command fails for a workspace that
// has objects of these resources. What is optional is not among them.
func (c Command) Needs(made ...string) []Access {
	var all []Access
	for _, r := range c.Rules {
		if r.Optional() || r.Made && !slices.Contains(made, r.Resource) {
			continue
		}
		all = append(all, r.accesses()...)
	}
	return distinct(all)
}

// All are all accesses of the command.
func (c Command) All() []Access {
	var all []Access
	for _, r := range c.Rules {
		all = append(all, r.accesses()...)
	}
	return distinct(all)
}

func distinct(all []Access) (once []Access) {
	for _, a := range all {
		if !slices.Contains(once, a) {
			once = append(once, a)
		}
	}
	return once
}
