// Package rbac knows which permissions each command needs: one table for the check before a write, `berth doctor`, the
// documentation and the tests.
package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Rule is a permission on one resource, and why it is needed.
type Rule struct {
	Group    string // of the API; empty for the core
	Resource string // with its subresource: pods/exec
	Verbs    []string
	Why      string
	// Made limits the rule to workspaces that have such an object.
	Made bool
	// Without is what happens without the permission, if the command works all the same.
	Without string
}

// Optional is true for a permission without which the command still works.
func (r Rule) Optional() bool { return r.Without != "" }

// Command is the permissions of one command.
type Command struct {
	// Name is how the command is typed, or the name of the feature.
	Name string
	// Feature is true for a feature that is not a command.
	Feature bool
	// About is a sentence about what the Role allows.
	About string
	// Cluster is true for permissions that only a ClusterRole can give.
	Cluster bool
	// System is true for permissions in the namespace in which berth keeps what it records of bundles.
	System bool
	// Namespace is the one that the permissions are in, if that is neither the namespace of workspaces nor the one for
	// records.
	Namespace string
	Rules     []Rule
}

// ObjectName is the name of the command's Role in the documentation and the manifests.
func (c Command) ObjectName() string {
	return "berth-" + strings.NewReplacer("--", "", ",", "", " ", "-").Replace(strings.ToLower(c.Name))
}

// Access is one verb on one resource; without a Name, on all of its objects.
type Access struct {
	Verb, Group, Resource, Name string
}

// String is the access as in messages and kubectl auth can-i.
func (a Access) String() string { return a.Verb + " " + a.Object() }

// Object is the resource with its group and subresource, as kubectl writes it.
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

// On are the accesses to one resource.
func (c Command) On(resource string) []Access {
	return c.accesses(func(r Rule) bool { return r.Resource == resource })
}

// Needs are the accesses without which the command fails for a workspace with objects of these resources.
func (c Command) Needs(made ...string) []Access {
	return c.accesses(func(r Rule) bool { return !r.Optional() && (!r.Made || slices.Contains(made, r.Resource)) })
}

// All are all accesses of the command.
func (c Command) All() []Access { return c.accesses(func(Rule) bool { return true }) }

// accesses are those of some of the rules, verb by verb, each of them once.
func (c Command) accesses(of func(Rule) bool) (all []Access) {
	for _, r := range c.Rules {
		for _, verb := range r.Verbs {
			if a := (Access{Verb: verb, Group: r.Group, Resource: r.Resource}); of(r) && !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}

// Developer is one Role for all commands in a namespace.
func Developer() Command {
	all := Command{Name: "developer", About: "All commands in a namespace."}
	for _, c := range Commands() {
		if !c.Cluster {
			all.Rules = append(all.Rules, c.Rules...)
		}
	}
	return all
}

// PolicyRulesOf are the rules of a Role that is limited to the objects of these names.
func (c Command) PolicyRulesOf(names ...string) []rbacv1.PolicyRule {
	rules := c.PolicyRules()
	for i := range rules {
		rules[i].ResourceNames = names
	}
	return rules
}

// Required is the command with the permissions that it does not work without.
func (c Command) Required() Command {
	c.Rules = slices.DeleteFunc(slices.Clone(c.Rules), Rule.Optional)
	return c
}

// Has says whether the command has all verbs of a rule.
func (c Command) Has(r Rule) bool {
	for _, verb := range r.Verbs {
		same := func(o Rule) bool {
			return o.Group == r.Group && o.Resource == r.Resource && slices.Contains(o.Verbs, verb)
		}
		if !slices.ContainsFunc(c.Rules, same) {
			return false
		}
	}
	return true
}

// PolicyRules are the rules of a Role: one for each resource, with all its verbs.
func (c Command) PolicyRules() []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, r := range c.Rules {
		same := func(p rbacv1.PolicyRule) bool { return p.APIGroups[0] == r.Group && p.Resources[0] == r.Resource }
		i := slices.IndexFunc(rules, same)
		if i < 0 {
			rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: []string{r.Resource}})
			i = len(rules) - 1
		}
		for _, verb := range r.Verbs {
			if !slices.Contains(rules[i].Verbs, verb) {
				rules[i].Verbs = append(rules[i].Verbs, verb)
			}
		}
	}
	return rules
}
