package main

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/rbac"
)

const permissionsAbout = "berth does what the caller's kubeconfig may do, and nothing is installed in the cluster " +
	"for it. Each command below\n" +
	"has the Role that is enough for it. Where the table says what happens without a permission, the command works\n" +
	"without it; every other one is required. In a Role such rules come last, with a comment: leave out those " +
	"that you do not\n" +
	"want to grant, `deletecollection` of ConfigMaps for example, which no selector can limit. The end-to-end tests " +
	"run with exactly these Roles, and show of each permission\n" +
	"that it is asked for and that it is named if it is missing. `provision` and `delete` check all their " +
	"permissions before\n" +
	"anything is changed, and name all that are missing. Everybody may ask what they may do; where that is " +
	"not so, or where\n" +
	"an authorizer outside the API server decides, a missing permission is found when it is used.\n\n" +
	"Replace `team` with your namespace and `developers` with your group.\n"

// permissionsPage is the page about permissions: what each command takes, and why, as Roles to copy.
func permissionsPage() string {
	var b strings.Builder
	b.WriteString(permissionsAbout)
	b.WriteString("\n## One Role for all\n\nAll commands in a namespace: the sum of what follows, up to the " +
		"whole cluster.\n")
	b.WriteString(manifest(rbac.Developer()))
	everywhere := false
	for _, c := range rbac.Commands() {
		if c.Cluster && !everywhere {
			everywhere = true
			b.WriteString("\n# In the whole cluster\n\nWhat no Role in a namespace can give.\n")
		}
		b.WriteString(section(c))
	}
	b.WriteString("\n# In other namespaces\n\nWhat is needed in addition where the configuration names something " +
		"that is not in the namespace of the workspaces.\n")
	for _, c := range rbac.Elsewhere() {
		b.WriteString(section(c))
	}
	b.WriteString("\n# Machines\n\nWhat `berth exec machine/NAME` needs, where a cluster has machines " +
		"(compute.ironcore.dev).\n")
	for _, c := range rbac.Machines() {
		b.WriteString(section(c))
	}
	b.WriteString("\n# Bundles\n\nWhat `berth bundle` needs. Bundles and their instances are in no namespace; what " +
		"is recorded of them is in the system namespace, `berth-system` unless `--system-namespace` names another. " +
		"`unpack`, `template` and `definitions` need nothing, nor does `validate`, unless it asks a cluster: then it " +
		"needs what `diff` needs, and to create the objects of the bundle.\n")
	for _, c := range rbac.Bundles() {
		b.WriteString(section(c))
	}
	b.WriteString("\n# Scratch storages\n\nWhat storages of type scratch need, and `berth volume`. The driver and " +
		"what is asked of it is in a namespace of its own, `berth-volumes` unless `--driver-namespace` " +
		"names another.\n")
	for _, c := range rbac.Volumes() {
		b.WriteString(section(c))
	}
	b.WriteString("\n# Servers\n\nWhat the ServiceAccounts of `berth serve` need. `berth serve manifests` prints it " +
		"with the rest of a server.\n")
	for _, c := range rbac.Serving() {
		b.WriteString(section(c))
	}
	return strings.TrimRight(b.String(), "\n")
}

// section is about one command or feature: what it takes and why, and its Role.
func section(c rbac.Command) string {
	title := "`berth " + c.Name + "`"
	if c.Feature {
		title = strings.ToUpper(c.Name[:1]) + c.Name[1:]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| resource | verbs | what for |\n| --- | --- | --- |\n", title, c.About)
	for _, r := range c.Rules {
		why := r.Why
		if r.Made {
			why += "; only for workspaces that have one"
		}
		if r.Optional() {
			why += "; without it " + r.Without
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", rbac.Access{Group: r.Group, Resource: r.Resource}.Object(),
			strings.Join(r.Verbs, ", "), why)
	}
	b.WriteString(manifest(c))
	return b.String()
}

// writeRules writes the rules of a Role: first what is required, and then, with what is lost without it, what can be
// left out.
func writeRules(b *strings.Builder, c rbac.Command) {
	required := c.Required()
	for _, r := range required.PolicyRules() {
		fmt.Fprintf(b, "  - {apiGroups: [%q], resources: [%s], verbs: [%s]}\n", r.APIGroups[0], r.Resources[0],
			strings.Join(r.Verbs, ", "))
	}
	before := ""
	for _, r := range c.Rules {
		if !r.Optional() || required.Has(r) {
			continue
		}
		if r.Without != before {
			fmt.Fprintf(b, "  # optional; without it %s\n", r.Without)
		}
		before = r.Without
		fmt.Fprintf(b, "  - {apiGroups: [%q], resources: [%s], verbs: [%s]}\n", r.Group, r.Resource,
			strings.Join(r.Verbs, ", "))
		required.Rules = append(required.Rules, r)
	}
}

// manifest is a command's Role and its binding, to be copied.
func manifest(c rbac.Command) string {
	kind, namespace := "Role", "\n  namespace: team"
	switch {
	case c.Cluster:
		kind, namespace = "ClusterRole", ""
	case c.System:
		namespace = "\n  namespace: berth-system"
	case c.Namespace != "":
		namespace = "\n  namespace: " + c.Namespace
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n```yaml\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s%s\nrules:\n",
		kind, c.ObjectName(), namespace)
	writeRules(&b, c)
	fmt.Fprintf(&b, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %sBinding\nmetadata:\n  name: %s%s\n", kind,
		c.ObjectName(), namespace)
	fmt.Fprintf(&b, "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}\n", kind, c.ObjectName())
	b.WriteString("subjects:\n  - {apiGroup: rbac.authorization.k8s.io, kind: Group, name: developers}\n```\n")
	return b.String()
}
