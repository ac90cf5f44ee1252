package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/follow"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// A list is read page by page. One that takes so long that its version is gone goes on with what
// there is now, if the server says where.
func TestPages(t *testing.T) {
	expired := func(next string) error {
		err := apierrors.NewResourceExpired("too old")
		err.ErrStatus.Continue = next
		return err
	}
	busy := errors.New("busy")
	for name, test := range map[string]struct {
		answers map[string]error // by the token that is asked for
		asked   []string
		used    int
		err     bool
	}{
		"all is well":                     {nil, []string{"", "a", "b"}, 3, false},
		"it is too old, and goes on":      {map[string]error{"a": expired("b")}, []string{"", "a", "b"}, 2, false},
		"it is too old, and does not":     {map[string]error{"a": expired("")}, []string{"", "a"}, 1, true},
		"it is too old from the first on": {map[string]error{"": expired("b")}, []string{""}, 0, true},
		"another error":                   {map[string]error{"b": busy}, []string{"", "a", "b"}, 2, true},
	} {
		var asked []string
		used := 0
		err := eachPage(t.Context(), metav1.ListOptions{LabelSelector: "x"},
			func(_ context.Context, opts metav1.ListOptions) (*corev1.PodList, error) {
				if asked = append(asked, opts.Continue); opts.Limit != 500 || opts.LabelSelector != "x" {
					t.Errorf("%s: asks for %+v", name, opts)
				}
				next := map[string]string{"": "a", "a": "b"}[opts.Continue]
				return &corev1.PodList{ListMeta: metav1.ListMeta{Continue: next}}, test.answers[opts.Continue]
			}, func(*corev1.PodList) { used++ })
		if !slices.Equal(asked, test.asked) || used != test.used || (err != nil) != test.err {
			t.Errorf("%s: asked for %q, used %d, %v", name, asked, used, err)
		}
	}
}

// What is watched: the pods that match, and what may explain them; the workloads of a kind once
// a workspace is in one.
func TestSources(t *testing.T) {
	now := watchtest.Epoch
	const about = "events  involvedObject.kind="
	for name, test := range map[string]struct {
		q    Query
		kind string
		want []string
	}{
		"pods":        {Query{}, "", []string{"pods sel", about + "Pod"}},
		"with claims": {Query{Claims: true}, "", []string{"pods sel", "events", "persistentvolumeclaims"}},
		"of one":      {Query{ID: "a"}, "", []string{"pods sel", "events", "persistentvolumeclaims"}},
		"Deployments": {
			Query{},
			watch.KindDeployment,
			[]string{"deployments.apps", "replicasets.apps " + withWorkspace, about + "ReplicaSet"},
		},
		"Deployments, with claims": {
			Query{Claims: true},
			watch.KindDeployment,
			[]string{"deployments.apps", "replicasets.apps " + withWorkspace},
		},
		"StatefulSets": {Query{}, watch.KindStatefulSet, []string{"statefulsets.apps", about + "StatefulSet"}},
		"DaemonSets":   {Query{}, watch.KindDaemonSet, []string{"daemonsets.apps", about + "DaemonSet"}},
	} {
		c, _ := cached(t, Query{}, &now)
		c.query = test.q
		sources := func() []follow.Source {
			if test.kind == "" {
				return c.sources("sel")
			}
			return c.workloadSources(test.kind)
		}()
		var got []string
		for _, s := range sources {
			got = append(got, strings.TrimSpace(s.Resource+" "+s.Labels+" "+s.Fields))
			if !s.Sync {
				t.Errorf("%s: %s is not waited for", name, s.Resource)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Nothing is kept of a pod that is gone, nor of what is no object; which fields somebody has
// written is not kept at all.
func TestCacheForgets(t *testing.T) {
	now := watchtest.Epoch
	pod := named("alice-1", watchtest.OnNode)
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x", FieldsV1: metav1.NewFieldsV1("{}")}}
	c, in := cached(t, Query{Namespace: "dev"}, &now, pod.Pod)
	if got := pod.ManagedFields[0]; got.FieldsV1 != nil || got.Manager != "x" {
		t.Errorf("%+v", got)
	}
	event := watchtest.Event("alice-1", pod.UID, "app", "Pulled", "").Version(2).Event
	in["events"].Apply(apiwatch.Added, event)
	if k, known := c.keys[pod.UID]; !known || k.name != "alice-1" || len(c.events) != 1 {
		t.Errorf("%v, %v", c.keys, c.events)
	}
	in["pods"].Apply(apiwatch.Error, &metav1.Status{})
	in["pods"].Apply(apiwatch.Deleted, pod.Pod)
	if n := len(c.pods) + len(c.keys) + len(c.events) + len(in["pods"].known); n != 0 {
		t.Errorf("%d are left: %v, %v, %v", n, c.pods, c.keys, c.events)
	}
}

// What cannot be watched at first is the end; later it is told, and passes.
func TestInputIsInterrupted(t *testing.T) {
	now := watchtest.Epoch
	c, in := cached(t, Query{Namespace: "dev"}, &now)
	var failed, interrupted []error
	in["pods"].fail = func(err error) { failed = append(failed, err) }
	in["pods"].interrupted = func(err error) { interrupted = append(interrupted, err) }
	in["pods"].Interrupted(errors.New("away"))
	if len(failed) != 1 || len(interrupted) != 0 || !strings.Contains(failed[0].Error(), "watch pods") {
		t.Errorf("at first %v, %v", failed, interrupted)
	}
	c.open(now)
	in["pods"].Interrupted(errors.New("away"))
	if len(failed) != 1 || len(interrupted) != 1 {
		t.Errorf("then %v, %v", failed, interrupted)
	}
}

// An event is about the workspaces that have the object: a pod that is known, those that mount a claim, and of a
// workload all that are injected.
func TestConcerned(t *testing.T) {
	now := watchtest.Epoch
	id := idOf(t)
	c, _ := cached(t, Query{Namespace: "dev"}, &now)
	c.apply(named("carol-1", mounts).Pod, false)
	c.apply(named("dave-1", mounts).Pod, false)
	c.apply(replica(id, "web-1", "new"), false)
	for name, test := range map[string]struct {
		kind, object string
		uid          string
		want         []string
	}{
		"a pod":               {"Pod", "carol-1", "carol-1", []string{"carol-1"}},
		"a pod of before":     {"Pod", "carol-1", "older", nil},
		"a claim":             {kindClaim, "data", "claim", []string{"carol-1", "dave-1"}},
		"a claim of nobody":   {kindClaim, "other", "claim", nil},
		"a ReplicaSet":        {"ReplicaSet", "web-new", "new", []string{id}},
		"a pod of a workload": {"Pod", "web-1", "web-1", []string{id}},
	} {
		event := watchtest.Event(test.object, "", "", "Reason", "").Event
		event.InvolvedObject.Kind, event.InvolvedObject.Namespace, event.InvolvedObject.UID = test.kind, "dev",
			types.UID(test.uid)
		var got []string
		for _, k := range c.concerned(event) {
			got = append(got, k.name)
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// The orders, each with the one by namespace and name where it says nothing.
func TestSort(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	one := func(id, namespace, owner, blueprint string, stage v1.Stage, age, restarts int) v1.Workspace {
		return v1.Workspace{
			ID: id, Namespace: namespace, Owner: owner, Blueprint: blueprint,
			CreatedAt: at.Add(-time.Duration(age) * time.Minute),
			Snapshot:  v1.Snapshot{Stage: stage, Containers: []v1.Container{{Restarts: restarts}, {Restarts: 1}}},
		}
	}
	items := []v1.Workspace{
		one("c", "two", "alice", "ml", v1.StageFailed, 1, 9),
		one("b", "one", "bob", "dev", v1.StageRunning, 30, 0),
		one("a", "two", "carol", "dev", v1.StagePulling, 5, 3),
		one("d", "one", "alice", "base", v1.StageScheduling, 5, 0),
	}
	for order, want := range map[Order]string{
		ByDefault: "b d a c", ByName: "a b c d", ByOwner: "d c b a", ByBlueprint: "d b a c",
		ByStage: "d a b c", ByAge: "c d a b", ByRestarts: "c a b d",
	} {
		Sort(items, order)
		var got []string
		for _, w := range items {
			got = append(got, w.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("by %q: %s, want %s", order, got, want)
		}
	}
	if len(Orders()) != 6 {
		t.Errorf("there are %d orders: the test knows 6", len(Orders()))
	}
}

// What of a query the API server answers, and what a reading does.
func TestQuery(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, test := range []struct {
		q    Query
		want string // selector; with ! an error
	}{
		{Query{}, "k8shell.io/canonical-id"},
		{Query{ID: "alice-2bd806c"}, "k8shell.io/canonical-id=alice-2bd806c"},
		{Query{Owners: []string{"Alice", "bob"}}, "k8shell.io/canonical-id,k8shell.io/username in (alice,bob)"},
		{
			Query{Owners: []string{"_eve"}},
			"k8shell.io/canonical-id,k8shell.io/username in (eve--dr9ifgjuq87ofhcc94le,eve-6ed327c)",
		},
		{Query{Owners: []string{"alice~dev"}}, "!"},
		{Query{Owners: []string{"a b"}}, "!"},
		{
			Query{Blueprints: []string{"dev"}, Labels: "team!=red"},
			"k8shell.io/blueprint in (dev),k8shell.io/canonical-id,team!=red",
		},
		{Query{Labels: "a in (b"}, "!"},
	} {
		opts, err := test.q.options()
		if (err != nil) != (test.want == "!") || err == nil && opts.LabelSelector != test.want {
			t.Errorf("%+v: %q, %v; want %s", test.q, opts.LabelSelector, err, test.want)
		}
	}
	opts, err := Query{Owners: []string{long}}.options()
	if err != nil || strings.Contains(opts.LabelSelector, long) {
		t.Errorf("a long name is not made a label value: %q, %v", opts.LabelSelector, err)
	}
	for _, stage := range Stages() {
		w := v1.Workspace{Snapshot: v1.Snapshot{Stage: stage}}
		if !(Query{}).matches(w) || (Query{Stages: []v1.Stage{v1.StageFailed, v1.StagePulling}}).
			matches(w) != (stage == v1.StageFailed || stage == v1.StagePulling) {
			t.Errorf("stage %s is in the wrong lists", stage)
		}
	}
}

// A list is in its order also where workspaces need more than their pods to be read.
func TestListIsSorted(t *testing.T) {
	var pods []runtime.Object
	for name := range strings.FieldsSeq("f b h d a g c e") {
		pods = append(pods, named(name).Pod) // waits, so that its events are read
	}
	reader := inventory.Reader{
		Client: &kube.Client{Interface: fake.NewClientset(pods...), Namespace: "dev"},
		Policy: cause.DefaultPolicy(), Now: func() time.Time { return watchtest.After(time.Minute) },
	}
	list, err := List(t.Context(), reader, Query{Namespace: "dev"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range list.Items {
		got = append(got, w.ID)
	}
	if strings.Join(got, " ") != "a b c d e f g h" {
		t.Errorf("%q", got)
	}
}
