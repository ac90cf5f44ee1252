package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// twoStores have three completed records: one in each, and one that waits in the cluster though a
// newer one is in the other store, which is a cluster of its own here.
func twoStores(t *testing.T) (stores *Stores, asked *[]string, fail func(which ...int)) {
	t.Helper()
	now := func() time.Time { return at(10) }
	stores = &Stores{cluster: configMaps(fake.NewClientset(), "team", Retention, now)}
	nats := configMaps(fake.NewClientset(), "nats", Retention, now)
	stores.nats = nats
	record := func(id string, second int, where string) Record {
		return Record{ID: id, UpdatedAt: at(second), Username: where, Status: v1.JobStatusCompleted}
	}
	for _, err := range []error{
		put(t.Context(), stores.nats, record("nats", 1, "nats")),
		put(t.Context(), stores.cluster, record("cluster", 1, "cluster")),
		put(t.Context(), stores.nats, record("both", 5, "nats")),
		put(t.Context(), stores.pending(), record("both", 3, "cluster")),
		put(t.Context(), stores.pending(), record("waits", 3, "cluster")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	asked = new([]string)
	failing := []int{}
	for name, client := range map[string]*fake.Clientset{
		"nats":    nats.Client.(*fake.Clientset),
		"cluster": stores.cluster.Client.(*fake.Clientset),
	} {
		client.PrependReactor("*", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
			*asked = append(*asked, name+" "+action.GetVerb())
			return slices.Contains(failing, len(*asked)), nil, apierrors.NewServiceUnavailable(name + " is away")
		})
	}
	return stores, asked, func(which ...int) { failing = which }
}

// sorted are records as "ID of where it was read".
func sorted(records ...Record) string {
	var all []string
	for _, r := range records {
		all = append(all, r.ID+" of "+r.Username)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// Which requests are made to two stores, and what comes of it when each of them fails.
func TestEachFailingRequest(t *testing.T) {
	read := func(id string) func(*testing.T, *Stores) (string, error) {
		return func(t *testing.T, s *Stores) (string, error) {
			t.Helper()
			r, err := s.Get(t.Context(), id)
			return strings.TrimPrefix(sorted(r), " of "), err
		}
	}
	listed := func(t *testing.T, s *Stores) (string, error) {
		t.Helper()
		all, missing, err := s.List(t.Context())
		if missing != nil {
			all = append(all, Record{ID: "more", Username: "nats"})
		}
		return sorted(all...), err
	}
	found := func(typed string) func(*testing.T, *Stores) (string, error) {
		return func(t *testing.T, s *Stores) (string, error) { t.Helper(); return s.Find(t.Context(), typed) }
	}
	moved := func(t *testing.T, s *Stores) (string, error) {
		t.Helper()
		n, err := s.Move(t.Context())
		return fmt.Sprint(n), err
	}
	for _, test := range []struct {
		name  string
		do    func(*testing.T, *Stores) (string, error)
		fails []int // which requests
		asked string
		want  string // and the error
	}{
		{"read from NATS", read("nats"), nil, "nats get, cluster get", "nats of nats"},
		{"read from NATS", read("nats"), []int{1}, "nats get", " UNAVAILABLE"},
		{"read from NATS", read("nats"), []int{2}, "nats get, cluster get", "nats of nats"},
		{"read from the cluster", read("cluster"), nil, "nats get, cluster get", "cluster of cluster"},
		{"read from the cluster", read("cluster"), []int{1}, "nats get", " UNAVAILABLE"},
		{"read from the cluster", read("cluster"), []int{2}, "nats get, cluster get", " UNAVAILABLE"},
		{"read nothing", read("none"), nil, "nats get, cluster get", " NOT_FOUND"},
		{"list", listed, nil, "nats list, cluster list", "both of nats, cluster of cluster, nats of nats, waits of cluster"},
		{
			"list", listed,
			[]int{1},
			"nats list, cluster list",
			"both of cluster, cluster of cluster, more of nats, waits of cluster",
		},
		{"list", listed, []int{2}, "nats list, cluster list", "both of nats, nats of nats"},
		{"list", listed, []int{1, 2}, "nats list, cluster list", "more of nats UNAVAILABLE"},
		{"find", found("clu"), nil, "nats list, cluster list", "cluster"},
		{"find", found("clu"), []int{1}, "nats list, cluster list", "cluster"},
		{"find", found("clu"), []int{2}, "nats list, cluster list", " NOT_FOUND"},
		{"find one that is missing", found("nats"), []int{1}, "nats list, cluster list", " UNAVAILABLE"},
		{"find in nothing", found("clu"), []int{1, 2}, "nats list, cluster list", " UNAVAILABLE"},
		{
			"find what is whole", found("5f0c1a52-9d7b-4c11-8d2e-3f4a5b6c7d8e"), nil, "",
			"5f0c1a52-9d7b-4c11-8d2e-3f4a5b6c7d8e",
		},
		{"move", moved, nil, "cluster list, nats get, cluster delete, nats get, nats create, cluster delete", "2"},
		{"move", moved, []int{1}, "cluster list", "0 UNAVAILABLE"},
		{"move", moved, []int{2}, "cluster list, nats get", "0 UNAVAILABLE"},
		{"move", moved, []int{3}, "cluster list, nats get, cluster delete", "0 UNAVAILABLE"},
		{"move", moved, []int{5}, "cluster list, nats get, cluster delete, nats get, nats create", "1 UNAVAILABLE"},
		{
			"move", moved,
			[]int{6},
			"cluster list, nats get, cluster delete, nats get, nats create, cluster delete",
			"1 UNAVAILABLE",
		},
	} {
		stores, asked, fail := twoStores(t)
		fail(test.fails...)
		got, err := test.do(t, stores)
		if err != nil {
			got += " " + string(fault.CodeOf(err))
		}
		if got != test.want || strings.Join(*asked, ", ") != test.asked {
			t.Errorf("%s, %v fail: %q after %q; want %q after %q", test.name, test.fails, got, strings.Join(*asked, ", "),
				test.want, test.asked)
		}
	}
}

// Without NATS there is one store, and nothing to move.
func TestOneStore(t *testing.T) {
	stores, asked, fail := twoStores(t)
	stores.nats = nil
	if n, err := stores.Move(t.Context()); n != 0 || err != nil || len(*asked) > 0 {
		t.Errorf("%d moved, %v: %q", n, err, *asked)
	}
	all, missing, err := stores.List(t.Context())
	if got := sorted(all...); got != "both of cluster, cluster of cluster, waits of cluster" ||
		cmp.Or(missing, err) != nil {
		t.Errorf("%s, %v, %v", got, missing, err)
	}
	fail(2, 3)
	if _, missing, err := stores.List(t.Context()); missing != nil || fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("%v, %v", missing, err)
	}
	if _, err := stores.Get(t.Context(), "both"); fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
}
