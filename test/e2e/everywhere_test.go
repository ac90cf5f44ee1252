//go:build e2e

package e2e

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/rbac"
)

// everywhere are the commands and features that take a ClusterRole.
func everywhere() []duty {
	create := use{args: []string{
		"provision", "alice~plain", "--namespace", "NAMESPACE-new", "--create-namespace",
		"--no-wait",
	}}
	checkup := use{args: []string{"doctor"}}
	deletion := use{args: []string{"delete", "--owner", "NAMESPACE", "-A", "--yes"}}
	all := use{args: []string{"status", "-A"}}
	// Whether there are injected workspaces anywhere, or one is stopped while all are watched,
	// is up to the other tests.
	ofWorkloads, without := map[string]string{"get configmaps": "TestStopped"}, map[string]use{}
	for _, a := range rbac.Named(rbac.StatusOfAll).All() {
		if a.Group != "" || a.Resource == "persistentvolumeclaims" {
			ofWorkloads[a.String()] = "TestRolesOfReading"
		}
		if a.Group != "" || a.Resource == "persistentvolumeclaims" || a.Resource == "configmaps" ||
			a.Resource == "secrets" {
			without[a.String()] = all
		}
	}
	return []duty{
		{
			command: rbac.Named(rbac.StatusOfAll),
			uses: []use{
				all,
				{args: []string{"status", "-A", "--watch", "-o", "jsonl"}, until: "NAMESPACE~huge", status: 130},
			},
			elsewhere: ofWorkloads, without: without,
		},
		{
			command: rbac.Named(rbac.DeleteOfAll), with: []rbac.Command{rbac.Named(rbac.Delete)},
			uses:    []use{deletion},
			without: map[string]use{"list configmaps": deletion, "list secrets": deletion},
		},
		{
			command: rbac.Named(rbac.CreateNamespace), withAll: []rbac.Command{rbac.Named(rbac.Provision)},
			uses: []use{
				{args: []string{
					"provision", "alice~plain", "--namespace", "NAMESPACE-new", "--create-namespace",
					"--dry-run=server",
				}},
				create,
			},
			without: map[string]use{"get serviceaccounts": create},
		},
		{
			command: rbac.Named(rbac.AwaitedNodes), with: []rbac.Command{rbac.Named("diagnose")},
			uses:      []use{{args: []string{"diagnose", "NAMESPACE~huge"}}}, // which waits for a node, not on one
			elsewhere: map[string]string{"get nodes": "TestDiagnoseReadsNodes, and without it"},
		},
		{
			command: rbac.Named("doctor"), with: []rbac.Command{rbac.Developer()},
			uses: []use{checkup},
			without: map[string]use{
				"get namespaces":                     checkup.telling("may not get namespaces"),
				"list nodes":                         checkup.telling("may not list nodes"),
				"list storageclasses.storage.k8s.io": checkup.telling("may not list storageclasses.storage.k8s.io"),
				"get csidrivers.storage.k8s.io":      checkup.telling("may not get csidrivers.storage.k8s.io"),
				"list csinodes.storage.k8s.io":       checkup,
				"list resourcequotas":                checkup.telling("may not list resourcequotas"),
				"list limitranges":                   checkup.telling("may not list limitranges"),
				"list leases.coordination.k8s.io":    checkup,
				"list secrets":                       checkup,
				"list configmaps":                    checkup,
				"list daemonsets.apps":               checkup.telling("may not list daemonsets.apps"),
			},
		},
	}
}

// What takes a ClusterRole: it is enough, all of it is used, and what is missing
// is named. Each has a namespace of its own.
func TestRolesInTheCluster(t *testing.T) {
	t.Parallel()
	for _, d := range everywhere() {
		t.Run(d.command.Name, func(t *testing.T) {
			w := newWorld(t)
			t.Cleanup(func() {
				_ = w.CoreV1().Namespaces().Delete(context.Background(), w.namespace+"-new", metav1.DeleteOptions{})
			})
			w.must(0, "provision", w.namespace+"~huge", "--no-wait")
			words := w.words()
			users := w.suffices(d, words)
			_ = w.CoreV1().Namespaces().Delete(t.Context(), w.namespace+"-new", metav1.DeleteOptions{})
			w.eventually("the new namespace is gone", func() bool {
				_, err := w.CoreV1().Namespaces().Get(t.Context(), w.namespace+"-new", metav1.GetOptions{})
				return apierrors.IsNotFound(err)
			})
			for _, a := range d.command.All() {
				if u, used := users[a]; used {
					// it may have been deleted
					w.must(0, "provision", w.namespace+"~huge", "--no-wait", "--if-not-exists")
					w.lacks(d, u, a, words)
				}
			}
		})
	}
}

// Blueprints and users in another namespace are read there, and nothing else is.
func TestRoleForConfigMapsElsewhere(t *testing.T) {
	w, platform := newWorld(t), newWorldAlone(t)
	platform.keep(inCluster)
	config := "blueprintConfigMaps: [{namespace: " + platform.namespace + ", name: team}]\n"
	list := []string{"blueprint", "list"}
	w.contains(w.as(grant{platform.namespace, rbac.Named(rbac.ConfigMapsOfPlatform).PolicyRules()}).
		configured(config, list...).stdout, "from-cluster")
	refused := w.as().configured(config, list...)
	refused.mustBe(w, 4)
	platform.names(refused.stderr, rbac.Access{Verb: "get", Resource: "configmaps"})
}

// A user acts for another only with the permission to impersonate them.
func TestActingForSomebodyElse(t *testing.T) {
	parallel(t)
	w := newBareWorld(t)
	w = w.as(w.role(rbac.Named(rbac.Provision)))
	w.must(0, "provision", "--dry-run=client")
	w.contains(w.must(4, "provision", "alice~plain").stderr, "PERMISSION_DENIED", "may not act for alice",
		"impersonate user alice")
	if left := w.leftovers(); len(left) != 0 {
		t.Errorf("something was made: %s", left)
	}
}
