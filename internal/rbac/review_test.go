package rbac

import (
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/berthdev/berth/internal/fault"
)

func rule(group, resource, verb string, names ...string) authorizationv1.ResourceRule {
	return authorizationv1.ResourceRule{
		APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb},
		ResourceNames: names,
	}
}

func TestMissing(t *testing.T) {
	logs := Access{Verb: "get", Resource: "pods/log"}
	create := Access{Verb: "create", Group: "coordination.k8s.io", Resource: "leases"}
	alice := Access{Verb: "impersonate", Resource: "users", Name: "alice"}
	for name, c := range map[string]struct {
		rules []authorizationv1.ResourceRule
		need  Access
		has   bool
	}{
		"nothing":                       {nil, logs, false},
		"exactly that":                  {[]authorizationv1.ResourceRule{rule("", "pods/log", "get")}, logs, true},
		"another verb":                  {[]authorizationv1.ResourceRule{rule("", "pods/log", "list")}, logs, false},
		"another group":                 {[]authorizationv1.ResourceRule{rule("apps", "pods/log", "get")}, logs, false},
		"the resource is not its part":  {[]authorizationv1.ResourceRule{rule("", "pods", "get")}, logs, false},
		"a part of everything":          {[]authorizationv1.ResourceRule{rule("", "*/log", "get")}, logs, true},
		"everything":                    {[]authorizationv1.ResourceRule{rule("*", "*", "*")}, create, true},
		"a core rule for another group": {[]authorizationv1.ResourceRule{rule("", "*", "*")}, create, false},
		"names do not count for create": {[]authorizationv1.ResourceRule{rule("coordination.k8s.io", "leases",
			"create", "berth-x")}, create, false},
		"names are believed for others": {[]authorizationv1.ResourceRule{rule("", "pods/log", "get", "x")}, logs, true},
		"the name that is meant": {[]authorizationv1.ResourceRule{rule("", "users", "impersonate", "bob",
			"alice")}, alice, true},
		"another name than the one meant": {
			[]authorizationv1.ResourceRule{rule("", "users", "impersonate", "bob")},
			alice, false,
		},
		"verb and resource in two rules": {[]authorizationv1.ResourceRule{
			rule("", "pods/log", "list"),
			rule("", "pods", "get"),
		}, logs, false},
		"of several rules the one that does": {[]authorizationv1.ResourceRule{
			rule("", "pods", "get"),
			rule("", "pods/log", "get"),
		}, logs, true},
	} {
		t.Run(name, func(t *testing.T) {
			missing := Review{Rules: c.rules}.Missing([]Access{c.need})
			if has := len(missing) == 0; has != c.has {
				t.Errorf("missing is %v", missing)
			}
			if len(missing) > 0 && (Review{Rules: c.rules, Incomplete: true}).Missing([]Access{c.need}) != nil {
				t.Error("an incomplete review denies nothing")
			}
		})
	}
}

// Without a rule, the verbs of that rule are what is missing, and nothing else.
func TestEachRuleIsMissedByItself(t *testing.T) {
	for _, c := range Commands() {
		for _, left := range c.Rules {
			var given []authorizationv1.ResourceRule
			for _, r := range (Command{Rules: c.Rules}).All() {
				if !slices.Contains(Command{Rules: []Rule{left}}.All(), r) {
					given = append(given, rule(r.Group, r.Resource, r.Verb))
				}
			}
			if missing := (Review{Rules: given}).Missing(c.All()); !slices.Equal(missing,
				Command{Rules: []Rule{left}}.All()) {
				t.Errorf("%s without %s: %v is missing", c.Name, left.Resource, missing)
			}
		}
	}
}

// The Role that a command is documented with is enough for it.
func TestRolesSuffice(t *testing.T) {
	names := map[string]bool{}
	for _, c := range append(slices.Concat(Commands(), Elsewhere(), Machines(), Bundles(), Serving()), Developer()) {
		if names[c.ObjectName()] || strings.Trim(c.ObjectName(), "abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Errorf("%q is not a name of its own", c.ObjectName())
		}
		names[c.ObjectName()] = true
		var given []authorizationv1.ResourceRule
		for _, p := range c.PolicyRules() {
			given = append(given, authorizationv1.ResourceRule{
				APIGroups: p.APIGroups, Resources: p.Resources,
				Verbs: p.Verbs,
			})
		}
		if missing := (Review{Rules: given}).Missing(c.All()); missing != nil {
			t.Errorf("%s: %v", c.Name, missing)
		}
		for _, r := range c.Rules {
			if r.Why == "" || len(r.Verbs) == 0 || strings.Contains(strings.Join(r.Verbs, ""), "*") {
				t.Errorf("%s: rule %+v is not finished", c.Name, r)
			}
		}
	}
}

// What reads a bundle reads the definitions of its custom resources, if it may.
func TestBundlesReadDefinitions(t *testing.T) {
	get := Access{Verb: "get", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	for _, c := range []Command{bundleInstall(), bundleStatus()} {
		if !slices.Contains(c.All(), get) || slices.Contains(c.Required().All(), get) {
			t.Errorf("%s: %v", c.Name, c.All())
		}
	}
}

// The permission to enter the machines of a pool is said once, and limited to the pool that is named.
func TestPools(t *testing.T) {
	var says []string
	for _, c := range slices.Concat(Commands(), Elsewhere(), Machines(), Bundles(), Serving()) {
		if len(c.On("machinepools/proxy")) > 0 {
			says = append(says, c.Name)
		}
	}
	if !slices.Equal(says, []string{EnterMachineByPool}) {
		t.Errorf("%q let somebody in", says)
	}
	for _, r := range Named(EnterMachineByPool).PolicyRulesOf("east") {
		if !slices.Equal(r.ResourceNames, []string{"east"}) {
			t.Errorf("%+v is for more than the pool", r)
		}
	}
	if MachinePoolUser("east") != "machine-pool-east-user" {
		t.Error(MachinePoolUser("east"))
	}
}

func TestNeeds(t *testing.T) {
	needs := Named(Provision).Needs("services")
	for access, needed := range map[Access]bool{
		{Verb: "create", Resource: "services"}:                                    true,
		{Verb: "create", Resource: "pods"}:                                        true,
		{Verb: "create", Resource: "persistentvolumeclaims"}:                      false,
		{Verb: "get", Resource: "pods/log"}:                                       false,
		{Verb: "create", Group: "networking.k8s.io", Resource: "networkpolicies"}: false,
	} {
		if slices.Contains(needs, access) != needed {
			t.Errorf("%s is needed: %t", access, !needed)
		}
	}
}

func TestDenied(t *testing.T) {
	provision := Named(Provision)
	if provision.Denied("provisioning alice", "team", nil) != nil {
		t.Error("nothing is missing")
	}
	one := []Access{{Verb: "create", Group: "coordination.k8s.io", Resource: "leases"}}
	err := fault.From(provision.Denied("provisioning alice", "team", one))
	if err.Code != fault.PermissionDenied ||
		!strings.Contains(err.Message, "create leases.coordination.k8s.io in namespace team") {
		t.Errorf("%+v", err)
	}
	if !strings.Contains(err.Hint, "the Role berth-provision of docs/rbac.md") ||
		!strings.Contains(err.Hint, "kubectl auth can-i create leases.coordination.k8s.io --namespace team") {
		t.Error(err.Hint)
	}
	two := fault.From(provision.Denied("provisioning alice", "team",
		append(one, Access{Verb: "get", Resource: "pods/log"})))
	want := []string{"create leases.coordination.k8s.io in namespace team", "get pods/log in namespace team"}
	if !slices.Equal(two.Problems, want) {
		t.Errorf("%q", two.Problems)
	}
}

// Every name is one of the table.
func TestNames(t *testing.T) {
	for _, name := range []string{
		Provision, Inject, Delete, Impersonation, CreateNamespace, StatusOfAll, DeleteOfAll,
		JobsInNATS, ConfigMapsOfPlatform,
	} {
		if c := Named(name); c.Name != name || len(c.Rules) == 0 {
			t.Errorf("%q is %+v", name, c)
		}
	}
	if Named("nothing").Name != "" {
		t.Error("there is nothing of that name")
	}
}
