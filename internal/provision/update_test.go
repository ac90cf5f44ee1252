package provision

import (
	"testing"
	"testing/synctest"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
)

// An update applies to the workspace that was planned for: it fails if another run has replaced or changed
// it since.
func TestSameWorkspace(t *testing.T) {
	record := func(version int, at string) *helm.Release {
		return &helm.Release{Version: version, Labels: map[string]string{"resourceVersion": at}}
	}
	pod := func(uid types.UID) *corev1.Pod { return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}} }
	web := func(version string) *workload.Workload {
		return &workload.Workload{Object: map[string]any{"metadata": map[string]any{
			"uid":             "web",
			"resourceVersion": version,
		}}}
	}
	injected := func(hash, job string) *workload.Workload {
		object := map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{
			"labels": map[string]any{kube.LabelJobID: job},
		}}}}
		return &workload.Workload{ID: id, Object: object, Record: &injection.Record{CanonicalID: id, Hash: hash}}
	}
	for name, test := range map[string]struct {
		a, b inventory.Found
		want bool
	}{
		"nothing, twice": {inventory.Found{}, inventory.Found{}, true},
		"the same": {
			inventory.Found{Record: record(1, "5"), Pod: pod("1")},
			inventory.Found{Record: record(1, "5"), Pod: pod("1")},
			true,
		},
		"a record that is new":  {inventory.Found{}, inventory.Found{Record: record(1, "5")}, false},
		"a record that is gone": {inventory.Found{Record: record(1, "5")}, inventory.Found{}, false},
		"another revision": {
			inventory.Found{Record: record(1, "5")},
			inventory.Found{Record: record(2, "5")},
			false,
		},
		"a record that was written": {
			inventory.Found{Record: record(1, "5")},
			inventory.Found{Record: record(1, "6")},
			false,
		},
		"a pod that is new":       {inventory.Found{}, inventory.Found{Pod: pod("1")}, false},
		"another pod":             {inventory.Found{Pod: pod("1")}, inventory.Found{Pod: pod("2")}, false},
		"the workload, as it was": {inventory.Found{Workload: web("1")}, inventory.Found{Workload: web("1")}, true},
		"injected alike": {
			inventory.Found{Workload: injected("h", "1")},
			inventory.Found{Workload: injected("h", "1")},
			true,
		},
		"injected by another job": {
			inventory.Found{Workload: injected("h", "1")},
			inventory.Found{Workload: injected("h", "2")},
			false,
		},
		"injected of another": {
			inventory.Found{Workload: injected("h", "1")},
			inventory.Found{Workload: injected("i", "1")},
			false,
		},
		"taken out": {
			inventory.Found{Workload: injected("h", "1")},
			inventory.Found{Workload: web("1")},
			false,
		},
		"an object less": {inventory.Found{Objects: []*unstructured.Unstructured{{}}}, inventory.Found{}, false},
	} {
		if got := sameWorkspace(test.a, test.b); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// An update that was planned for a workspace which has changed since changes nothing.
func TestUpdateOfWhatAnotherHasChanged(t *testing.T) {
	dir := modelDir(t)
	for _, user := range []string{"alice~model", modelInjected} {
		synctest.Test(t, func(t *testing.T) {
			s := pause{user: user, blueprints: dir, injected: user == modelInjected, a: "delete"}
			m := s.prepare(t)
			p := newProcess(m)
			c := modelCommand{p.provisioner(t, dir), p, t, user, event.NewStream(user, time.Now)}
			c.set([]string{"env.GREETING=hello"})
			plan, err := c.plan(t.Context(), Updating{})
			if err != nil {
				t.Fatal(err)
			}
			if err := <-newProcess(m).start(t, "update the environment", user, dir); err != nil {
				t.Fatal(err)
			}
			m.writes = nil
			if _, err := c.Update(t.Context(), plan, c.stream); fault.CodeOf(err) != fault.Conflict {
				t.Errorf("%s: %v", user, err)
			}
			if len(m.writes) > 0 {
				t.Errorf("%s: it changed %q", user, m.writes)
			}
		})
	}
}
