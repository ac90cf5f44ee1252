//go:build e2e

package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// versions are the versions of all that a dry run could touch: the workload, and
// whatever is berth's in the namespace.
func (tg *target) versions() string {
	tg.Helper()
	object := tg.get()
	all := []string{object.GetResourceVersion()}
	core, opts := tg.CoreV1(), metav1.ListOptions{}
	maps, err := core.ConfigMaps(tg.namespace).List(tg.Context(), opts)
	if err != nil {
		tg.Fatal(err)
	}
	for _, m := range maps.Items {
		all = append(all, m.Name+"="+m.ResourceVersion)
	}
	claims, err := core.PersistentVolumeClaims(tg.namespace).List(tg.Context(), opts)
	if err != nil {
		tg.Fatal(err)
	}
	for _, c := range claims.Items {
		all = append(all, c.Name)
	}
	leases, err := tg.CoordinationV1().Leases(tg.namespace).List(tg.Context(), opts)
	if err != nil {
		tg.Fatal(err)
	}
	for _, l := range leases.Items {
		all = append(all, l.Name)
	}
	return strings.Join(all, " ")
}

// stable is versions once the controllers have nothing more to say: the rollout
// is complete, the last of the old pods is gone, and both have been noted.
func (tg *target) stable() string {
	tg.Helper()
	tg.eventually("the workload is stable", func() bool {
		d, err := tg.AppsV1().Deployments(tg.namespace).Get(tg.Context(), "web", metav1.GetOptions{})
		if err != nil {
			tg.Fatal(err)
		}
		s := d.Status
		return s.ObservedGeneration == d.Generation && s.UpdatedReplicas == 1 && s.AvailableReplicas == 1 &&
			s.Replicas == 1 &&
			(s.TerminatingReplicas == nil || *s.TerminatingReplicas == 0) && len(tg.pods()) == 1 &&
			slices.ContainsFunc(s.Conditions,
				func(c appsv1.DeploymentCondition) bool { return c.Reason == "NewReplicaSetAvailable" })
	})
	return tg.versions()
}

// A dry run of an injection, and of an ejection, prints the workload as it would
// be, and leaves it and its namespace as they are.
func TestDryRunOfAnInjection(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"client", "server"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t)
			tg := w.workload("deployment", 1, nil)
			id, template := w.idOf(tg.user("plain")), tg.template()
			before := tg.stable()
			r := w.must(0, "provision", tg.user("plain"), "--dry-run="+mode)
			w.contains(r.stdout, "# update deployment/web", "name: "+id+"-k8shell-main", "k8shell.io/canonical-id: "+id,
				"# create configmap/")
			w.contains(r.stderr, "Nothing was changed")
			if after := tg.versions(); after != before || tg.template() != template {
				t.Errorf("the injection that was not: %s became %s", before, after)
			}

			w.must(0, "provision", tg.user("plain"))
			before = tg.stable()
			r = w.must(0, "delete", tg.user("plain"), "--dry-run="+mode)
			w.contains(r.stdout, "# update deployment/web", "# delete configmap/")
			w.contains(r.stderr, "Nothing was changed")
			update, _, _ := strings.Cut(r.stdout, "# delete ")
			if strings.Contains(update, id) {
				t.Errorf("the workload would still have it:\n%s", update)
			}
			if after := tg.versions(); after != before {
				t.Errorf("the ejection that was not: %s became %s", before, after)
			}
			if one := decode[v1.Workspace](w,
				w.must(0, "status", tg.user("plain"), "-o", "json")); one.Stage != v1.StageRunning {
				t.Errorf("%+v", one)
			}
		})
	}
}

// A dry run of what is done ends as the command itself would.
func TestDryRunOfWhatRuns(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	for _, mode := range []string{"client", "server"} {
		w.contains(w.must(6, "provision", "alice~plain", "--dry-run="+mode).stderr, "already running",
			"--if-not-exists")
		r := w.must(0, "provision", "alice~plain", "--if-not-exists", "--dry-run="+mode)
		w.contains(r.stderr, "is already running", "0 changes", "Nothing was changed")
	}
	w.contains(w.must(0, "provision", "alice~plain", "--if-not-exists", "--dry-run=client", "-o", "json").stdout,
		`"List"`)
}

// Where the API server does not answer in time, a dry run of a deletion speaks of
// no deletion.
func TestDryRunTimesOut(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	kubeconfig := w.between(func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "-config") {
			unanswered(r)
		}
		next.ServeHTTP(out, r)
	})
	for _, mode := range []string{"client", "server"} {
		cmd := w.command("delete", "alice~plain", "--dry-run="+mode, "--timeout", "10s", "-o", "json")
		cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
		r := w.finish(cmd)
		r.mustBe(w, 5)
		e := decode[v1.Error](w, r)
		w.contains(e.Message, "timed out after 10s", "nothing was changed")
		if said := e.Message + e.Hint; strings.Contains(said, "delet") || strings.Contains(said, "remov") {
			t.Errorf("%s: it speaks of a deletion: %+v", mode, e)
		}
	}
	if w.pod(w.idOf("alice~plain")) == nil {
		t.Error("the pod is gone")
	}
}
