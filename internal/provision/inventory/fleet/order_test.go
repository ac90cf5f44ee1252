package fleet

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

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
