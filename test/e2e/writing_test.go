//go:build e2e

package e2e

import (
	"maps"

	"github.com/berthdev/berth/internal/rbac"
)

const withRegistry = "registry: {server: registry.example.com, username: berth, password: berth-test}\n"

// writing are the commands that change something: all of them ask for what they
// need first.
func writing() []duty { return []duty{provisioning(), deleting(), injecting(), stopping()} }

func provisioning() duty {
	crashing := use{args: []string{"provision", "alice~crashing"}, status: 3}
	failing := use{args: []string{"provision", "alice~unbindable", "--on-failure", "delete"}, status: 3}
	plain := use{args: []string{"provision", "alice~plain"}}
	counted := use{args: []string{"provision", "alice~plain"}, config: "limits: {workspaces: 9}\n"}
	uncounted := counted.telling("list configmaps")
	uncounted.status = 4
	claimed := use{args: []string{"provision", "alice~data"}, before: killed("POST", "pods", "provision", "alice~data")}
	return duty{
		command: rbac.Named(rbac.Provision),
		uses: []use{
			{args: []string{"provision", "alice~data"}, api: forgetful},
			// These run until it is asked for: there is no node of that size.
			{
				args: []string{"provision", "alice~data", "--set", "resources.cpu=64"}, api: forgetful,
				until:  "list events",
				status: 130,
			},
			{
				args: []string{"provision", "alice~data", "--set", "resources.cpu=64"}, api: forgetful,
				until: "list persistentvolumeclaims", status: 130,
			},
			{args: []string{"provision", "alice~served", "--dry-run=client"}, optional: []string{"get namespaces"}},
			{args: []string{"provision", "alice~sharing"}, before: killed("POST", "pods", "provision",
				"alice~sharing")},
			{args: []string{
				"provision", "alice~sharing", "--image", "registry.example.com/berth/workspace:none",
				"--on-failure", "delete",
			}, status: 3},
			// With an agent there is a Service.
			{args: []string{"provision", "alice~served"}, api: forgetful},
			{args: []string{"provision", "alice~served"}, before: killed("POST", "pods", "provision", "alice~served")},
			{args: []string{
				"provision", "alice~served", "--image", "registry.example.com/berth/workspace:none",
				"--on-failure", "delete",
			}, status: 3},
			crashing,
			{
				args: []string{"provision", "alice~wrong-tag"}, status: 3,
				before: func(w *world) { w.must(3, "provision", "alice~wrong-tag") },
			},
			{args: []string{"provision", "alice~private"}, config: withRegistry, before: func(w *world) {
				w.configured("registry: {server: registry.example.com, username: berth, password: old}\n", "provision",
					"bob~private", "--no-wait").mustBe(w, 0)
			}},
			failing,
			claimed,
			counted,
			{
				args:   []string{"update", "alice~data", "--set", "env.X=y"},
				before: func(w *world) { w.must(0, "provision", "alice~data") },
			},
		},
		gate: func(rbac.Access) use {
			return use{args: []string{"provision", "alice~served"}, config: withRegistry}
		},
		without: map[string]use{
			"get pods/log": crashing,
			"delete persistentvolumeclaims": failing.telling("could not be removed: you may not delete " +
				"persistentvolumeclaims"),
			"delete secrets":               failing.telling("could not be removed: you may not delete secrets"),
			"deletecollection configmaps":  plain,
			"list configmaps":              uncounted,
			"patch persistentvolumeclaims": claimed,
		},
		elsewhere: certified,
	}
}

func deleting() duty {
	bulky := use{
		args:   []string{"delete", "alice~bulky"},
		before: func(w *world) { w.must(0, "provision", "alice~bulky", "--no-wait") },
	}
	unreadable := use{
		args: []string{"delete", "alice~served"}, says: "what you may not list is kept",
		before: func(w *world) {
			w.must(0, "provision", "alice~served")
			w.spoilRecord(w.idOf("alice~served"), "")
		},
	}
	keeping := use{
		args:   []string{"delete", "alice~data", "--keep-storage"},
		before: func(w *world) { w.must(0, "provision", "alice~data") },
	}
	refused := keeping.telling("you may not patch persistentvolumeclaims")
	refused.status = 4
	stopped := use{args: []string{"delete", "alice~plain"}, before: func(w *world) {
		w.must(0, "provision", "alice~plain")
		w.must(0, "stop", "alice~plain")
	}}
	return duty{
		command: rbac.Named(rbac.Delete),
		uses: []use{
			{
				args: []string{"delete", "alice~served"}, api: forgetful,
				before: func(w *world) { w.must(0, "provision", "alice~served") },
			},
			bulky,
			{args: []string{"delete", "alice~plain"}, before: func(w *world) {
				w.must(0, "provision", "alice~plain")
				killed("DELETE", "secrets", "delete", "alice~plain")(w)
			}},
			unreadable,
			keeping,
			stopped,
		},
		prepare: func(w *world) { w.must(0, "provision", "alice~served") },
		gate:    func(rbac.Access) use { return use{args: []string{"delete", "alice~served"}} },
		without: map[string]use{
			"list persistentvolumeclaims":            unreadable,
			"patch persistentvolumeclaims":           refused,
			"list networkpolicies.networking.k8s.io": unreadable,
			"list certificates.cert-manager.io":      unreadable,
			"patch configmaps":                       stopped,
			"deletecollection configmaps": {
				args:   []string{"delete", "alice~plain"},
				before: func(w *world) { w.must(0, "provision", "alice~plain") },
			},
		},
		elsewhere: certifiedSecrets(),
	}
}

func stopping() duty {
	running := func(w *world) { w.must(0, "provision", "alice~plain") }
	return duty{
		command: rbac.Named(rbac.Stop),
		uses: []use{
			{args: []string{"stop", "alice~plain"}, api: forgetful, before: running},
			{args: []string{"stop", "alice~plain"}, before: func(w *world) {
				running(w)
				killed("DELETE", "pods", "stop", "alice~plain")(w)
			}},
			{
				args:   []string{"stop", "alice~plain"},
				before: func(w *world) { running(w); w.must(0, "stop", "alice~plain") },
			},
		},
		prepare: running,
		gate:    func(rbac.Access) use { return use{args: []string{"stop", "alice~plain"}} },
		without: map[string]use{"deletecollection configmaps": {
			args:   []string{"stop", "alice~plain"},
			before: running,
		}},
	}
}

func injecting() duty {
	command := rbac.Named(rbac.Inject)
	user := func(kind, blueprint string) string {
		return "alice~" + blueprint + "+workload=" + kind + "/web+ns=NAMESPACE"
	}
	killedInject := use{args: []string{"provision", user("deployment", "data")}, before: func(w *world) {
		killed("PATCH", "deployments", "provision", w.workload("deployment", 1, nil).user("data"))(w)
	}}
	d := duty{
		command: command,
		prepare: func(w *world) { w.oneOfEach() },
		gate: func(a rbac.Access) use {
			kind := "deployment"
			if a.Resource == "statefulsets" || a.Resource == "daemonsets" {
				kind = a.Resource[:len(a.Resource)-1]
			}
			return use{args: []string{"provision", user(kind, "everything")}, config: withRegistry}
		},
		without: map[string]use{
			"get pods/log": {
				args: []string{"provision", user("deployment", "crashing")}, status: 3,
				before: func(w *world) { w.workload("deployment", 1, nil) },
			},
			"deletecollection configmaps": {
				args:   []string{"provision", user("deployment", "plain")},
				before: func(w *world) { w.workload("deployment", 1, nil) },
			},
			"patch persistentvolumeclaims": killedInject,
		},
	}
	for _, kind := range []string{"deployment", "statefulset", "daemonset"} {
		workload := func(w *world) *target { return w.workload(kind, 1, nil) }
		d.uses = append(d.uses,
			use{
				args: []string{"provision", user(kind, "data")}, api: forgetful,
				before: func(w *world) { workload(w) },
			},
			use{
				args:   []string{"update", user(kind, "data"), "--set", "env.X=y"},
				before: func(w *world) { w.must(0, "provision", workload(w).user("data")) },
			},
			use{
				args:   []string{"delete", user(kind, "data")},
				before: func(w *world) { w.must(0, "provision", workload(w).user("data")) },
			},
		)
	}
	d.uses = append(d.uses,
		use{args: []string{"provision", user("statefulset", "wrong-tag")}, status: 3, before: func(w *world) {
			w.must(3, "provision", w.workload("statefulset", 1, nil).user("wrong-tag"))
		}},
		use{
			args: []string{"provision", user("deployment", "crashing")}, status: 3,
			before: func(w *world) { w.workload("deployment", 1, nil) },
		},
		killedInject,
	)
	return d
}

// certified says where it is shown that certificates take permissions: as a
// cluster has them or not, they are not part of what is shown here.
var certified = map[string]string{
	"create certificates.cert-manager.io": "TestCertificate", "get certificates.cert-manager.io": "TestCertificate",
	"patch certificates.cert-manager.io": "TestCertificate", "delete certificates.cert-manager.io": "TestCertificate",
}

// certifiedSecrets is the same for a deletion, which also asks whose the Secret is.
func certifiedSecrets() map[string]string {
	all := maps.Clone(certified)
	all["get secrets"] = "TestCertificate"
	return all
}

// telling is the same use, with this as its says.
func (u use) telling(says string) use {
	u.says = says
	return u
}

// killed runs berth and kills it before one of its requests.
func killed(verb, resource string, args ...string) func(*world) {
	return func(w *world) {
		w.Helper()
		proxy := w.proxy(killBefore(verb, resource))
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, "KUBECONFIG="+proxy.kubeconfig)
		run := w.launch(cmd)
		proxy.kill <- cmd.Process
		if r := run.wait(); r.status != -1 {
			w.Fatalf("it was not killed but ended with %d:\n%s", r.status, r.stderr)
		}
	}
}
