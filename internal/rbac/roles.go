package rbac

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

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
