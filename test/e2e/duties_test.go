//go:build e2e

package e2e

import (
	"slices"
	"testing"

	"github.com/berthdev/berth/internal/rbac"
)

// duty is a command of the table of permissions, with uses of it that together
// take all of its Role and nothing else.
type duty struct {
	command rbac.Command
	// with are Roles in the namespace that it takes besides its own, and withAll
	// those in all namespaces.
	with, withAll []rbac.Command
	uses          []use
	// without is a use that is possible without a permission that is not necessary,
	// and what it comes to, by the permission.
	without map[string]use
	// gate is a use that needs all permissions, for a command that asks for them
	// before it changes anything; nil for one that does not.
	gate func(a rbac.Access) use
	// prepare makes what the gate is about.
	prepare func(w *world)
	// elsewhere is what no use here takes, and the test that shows its need.
	elsewhere map[string]string
}

// beside are the grants that the duty takes besides its own.
func (d duty) beside(w *world) (grants []grant) {
	for _, c := range d.with {
		grants = append(grants, w.role(c))
	}
	for _, c := range d.withAll {
		grants = append(grants, clusterRole(c))
	}
	return grants
}

func (d duty) isBeside(a rbac.Access) bool {
	return slices.ContainsFunc(slices.Concat(d.with, d.withAll),
		func(c rbac.Command) bool { return slices.Contains(c.All(), a) })
}

// use is one way of using a command. NAMESPACE in it is the test's.
type use struct {
	args   []string
	status int
	config string // of berth
	// until is what stdout has, or is asked for, before the use is interrupted.
	until string
	// api is how the API server misbehaves, if it does.
	api mood
	// before makes what exists when the use begins.
	before func(w *world)
	// optional is what is asked for and may be refused.
	optional []string
	// says is what is printed about what was not permitted.
	says string
}

// withoutDuty are the commands of the table of which there is no duty, and the test that uses their Role: what records
// the requests of a duty knows no SPDY, and an impersonation is no request of its own.
func withoutDuty() map[string]string {
	return map[string]string{
		"ssh": "TestRoleOfSSH", "cp": "TestRoleOfCopies", "port-forward": "TestRoleOfForwarding",
		rbac.Impersonation: "TestActingForSomebodyElse",
	}
}

// Every command of the table has a duty, or a test of its own.
func TestEveryCommandHasADuty(t *testing.T) {
	tested := withoutDuty()
	for _, d := range slices.Concat(reading(), writing(), everywhere()) {
		if test := tested[d.command.Name]; test != "" {
			t.Errorf("%s has a duty, and %s", d.command.Name, test)
		}
		tested[d.command.Name] = "its duty"
	}
	for _, c := range rbac.Commands() {
		if tested[c.Name] == "" {
			t.Errorf("nothing shows that the Role of %s is enough", c.Name)
		}
	}
}

// reading are the commands that change nothing; prepareReading makes what they
// are about.
func reading() []duty {
	const unseen = "you may not see whether it is installed: you may not list secrets in namespace NAMESPACE"
	watch := use{args: []string{"status", "--watch", "-o", "jsonl"}, until: "alice~data", status: 130}
	watchOld := watch
	watchOld.api = old
	return []duty{
		{
			command: rbac.Named("status"),
			uses: []use{
				{args: []string{"status", "alice~data"}},
				{args: []string{"status", "gone~plain"}},
				{args: []string{"status", "stopped~plain"}, says: "Stopped"},
				{
					args:     []string{"status", "alice~plain+workload=deployment/web+ns=NAMESPACE"},
					optional: []string{"list persistentvolumeclaims"},
				},
				{args: []string{"status", "alice~plain+workload=statefulset/web+ns=NAMESPACE"}},
				{args: []string{"status", "alice~plain+workload=daemonset/web+ns=NAMESPACE"}},
				{args: []string{"status", "alice~data", "--watch", "-o", "jsonl"}, until: "alice~data", status: 130},
				{
					args: []string{"status", "alice~data", "--watch", "-o", "jsonl"}, until: "alice~data", status: 130,
					api: old,
				},
				{args: []string{"status"}}, // which reads less where it may not read a workload, or claims
				watch,
				watchOld,
			},
			without: map[string]use{
				"list secrets":            {args: []string{"status", "gone~plain"}, status: 7, says: unseen},
				"get configmaps":          {args: []string{"status", "stopped~plain"}},
				"list configmaps":         {args: []string{"status"}},
				"list deployments.apps":   watchOld,
				"watch deployments.apps":  watch,
				"list statefulsets.apps":  watchOld,
				"watch statefulsets.apps": watch,
				"list daemonsets.apps":    watchOld,
				"watch daemonsets.apps":   watch,
				"watch replicasets.apps":  watch,
			},
			elsewhere: map[string]string{
				"get pods/log": "TestInitScripts; without it, TestInitScriptsThatCannotBeSeen",
			},
		},
		{
			command: rbac.Named("exec"),
			uses: []use{
				{args: []string{"exec", "alice~data", "--", "true"}},
				{
					args:     []string{"exec", "alice~plain+workload=deployment/web+ns=NAMESPACE", "--", "true"},
					optional: []string{"list events"},
				},
				{
					args:     []string{"exec", "alice~plain+workload=statefulset/web+ns=NAMESPACE", "--", "true"},
					optional: []string{"list events"},
				},
				{
					args:     []string{"exec", "alice~plain+workload=daemonset/web+ns=NAMESPACE", "--", "true"},
					optional: []string{"list events"},
				},
				{args: []string{"exec", "gone~plain", "--", "true"}, status: 125},
				{args: []string{"exec", "stopped~plain", "--", "true"}, status: 125, says: "is stopped"},
				{
					args: []string{"exec", "alice~huge", "--", "true"}, until: "watch events", status: 130,
					optional: []string{"list events"},
				},
			},
			without: map[string]use{
				"get pods/exec": {args: []string{"exec", "alice~data", "--", "echo", "over SPDY"}, says: "over SPDY"},
				"list secrets":  {args: []string{"exec", "gone~plain", "--", "true"}, status: 125, says: unseen},
				"get configmaps": {
					args: []string{"exec", "stopped~plain", "--", "true"}, status: 125,
					says: "has no pod",
				},
				"watch pods": {args: []string{"exec", "alice~huge", "--", "true"}, status: 125, says: "watch pods"},
				"watch events": {
					args: []string{"exec", "alice~huge", "--", "true"}, status: 125,
					says: "watch events",
				},
			},
			elsewhere: map[string]string{
				"get pods/log":                 "TestInitScripts; without it, TestInitScriptsThatCannotBeSeen",
				"watch persistentvolumeclaims": "TestRolesOfWriting: provision watches them in the same way",
				"watch deployments.apps":       "TestExecWaitsForAReplica",
				"watch replicasets.apps":       "TestExecWaitsForAReplica",
				"watch statefulsets.apps":      "TestExecWaitsForAReplica",
				"watch daemonsets.apps":        "TestExecWaitsForAReplica",
			},
		},
		{
			command: rbac.Named("logs"),
			uses: []use{
				{args: []string{"logs", "alice~data"}},
				{
					args:     []string{"logs", "alice~plain+workload=deployment/web+ns=NAMESPACE"},
					optional: []string{"list events"},
				},
				{
					args:     []string{"logs", "alice~plain+workload=statefulset/web+ns=NAMESPACE"},
					optional: []string{"list events"},
				},
				{
					args:     []string{"logs", "alice~plain+workload=daemonset/web+ns=NAMESPACE"},
					optional: []string{"list events"},
				},
				{
					args: []string{"logs", "alice~huge", "--follow"}, until: "watch pods", status: 130,
					optional: []string{"list events"},
				},
				{args: []string{"logs", "gone~plain"}, status: 7},
				{args: []string{"logs", "stopped~plain"}, status: 3, says: "is stopped"},
			},
			without: map[string]use{
				"list secrets":   {args: []string{"logs", "gone~plain"}, status: 7, says: unseen},
				"get configmaps": {args: []string{"logs", "stopped~plain"}, status: 7, says: "has no pod"},
			},
		},
		{
			command: rbac.Named("diagnose"),
			uses: []use{
				{args: []string{"diagnose", "alice~crashing"}},
				{args: []string{"diagnose", "alice~data"}},
				{args: []string{"diagnose", "gone~plain"}},
				{args: []string{"diagnose", "stopped~plain"}},
				{args: []string{"diagnose", "deployment/web"}},
				{args: []string{"diagnose", "statefulset/web"}},
				{args: []string{"diagnose", "daemonset/web"}},
				{args: []string{"diagnose", "job/once"}},
				{args: []string{"diagnose", "replicaset/REPLICASET"}},
			},
			without: map[string]use{
				"list events": {
					args: []string{"diagnose", "alice~crashing"},
					says: "permission to list events in namespace NAMESPACE",
				},
				"list persistentvolumeclaims": {
					args: []string{"diagnose", "alice~data"},
					says: "permission to list persistentvolumeclaims in namespace NAMESPACE",
				},
				"get pods/log": {
					args: []string{"diagnose", "alice~crashing"},
					says: "permission to get pods/log in namespace NAMESPACE",
				},
				"list secrets":   {args: []string{"diagnose", "gone~plain"}, status: 7, says: unseen},
				"get configmaps": {args: []string{"diagnose", "stopped~plain"}, says: "pod gone; start it"},
			},
		},
		{
			command: rbac.Named("jobs"),
			uses: []use{
				{args: []string{"jobs"}},
				{args: []string{"jobs", "JOB"}},
				{args: []string{"jobs", "JOB", "--follow"}, until: "Scheduling", status: 130},
				{args: []string{"status", "alice~data", "--history"}},
			},
			without: map[string]use{"list leases.coordination.k8s.io": {args: []string{"jobs"}}},
			// by the age of records alone
			elsewhere: map[string]string{"delete configmaps": "TestJobThatIsMovedIntoNATS"},
		},
	}
}
