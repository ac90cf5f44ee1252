package job

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
)

// The ConfigMap of a record is a contract, too.
func TestConfigMapOfARecord(t *testing.T) {
	s := configMaps(fake.NewClientset(), "team", Retention, func() time.Time { return at(0) })
	r := Record{ID: "5f0c", WorkspaceName: "alice-1"}
	for i := range 2000 {
		r.Events = append(r.Events, v1.JobEvent{
			ID: string(rune('a' + i%26)), Type: v1.JobEventKubernetes, ObjectName: "x",
			Message: strings.Repeat("y", 1000),
		})
	}
	if err := put(t.Context(), s, r); err != nil {
		t.Fatal(err)
	}
	object, err := s.Client.CoreV1().ConfigMaps("team").Get(t.Context(), "k8shell-job-5f0c", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"k8shell.io/job-id": "5f0c", "k8shell.io/canonical-id": "alice-1",
		"k8shell.io/job-expires": "1795348800",
	}
	for name, value := range want {
		if object.Labels[name] != value {
			t.Errorf("the label %s is %q, want %q", name, object.Labels[name], value)
		}
	}
	if size := len(object.Data["record"]); size > 512<<10 || size < 256<<10 {
		t.Errorf("%d bytes", size)
	}
}

// A record is as large as the place where it belongs takes it: an object of the API server, or
// a message of NATS.
func TestHowLargeARecordMayBe(t *testing.T) {
	var r Record
	for i := range 3000 {
		r.Events = append(r.Events, v1.JobEvent{
			ID: fmt.Sprint(i), Type: v1.JobEventKubernetes, ObjectName: fmt.Sprint(i),
			Message: strings.Repeat("y", 500),
		})
	}
	for most, s := range map[int]*Stores{
		512 << 10: {cluster: configMaps(fake.NewClientset(), "team", Retention, time.Now)},
		960 << 10: withFallback(&memory{}),
	} {
		text, err := r.Fit(s.maxSize()).Encode()
		if len(text) > most || len(text) < most*3/4 || err != nil {
			t.Errorf("%d bytes, want up to %d: %v", len(text), most, err)
		}
	}
}

// Of a record in NATS and in the cluster the newer one counts, and that which is
// only in one of them is found there.
func TestRecordsInBothStores(t *testing.T) {
	s := withFallback(&memory{records: map[string]Record{
		"nats":    {ID: "nats", UpdatedAt: at(5), Username: "nats"},
		"cluster": {ID: "cluster", UpdatedAt: at(0), Username: "nats"},
		"only":    {ID: "only", Username: "nats"},
	}})
	for id, second := range map[string]int{"nats": 4, "cluster": 1, "other": 0} {
		if err := put(t.Context(), s.cluster, Record{ID: id, UpdatedAt: at(second), Username: "cluster"}); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"nats": "nats", "only": "nats", "cluster": "cluster", "other": "cluster"}
	for id, where := range want {
		if r, err := s.Get(t.Context(), id); err != nil || r.Username != where {
			t.Errorf("%s is read from %q, %v; want %q", id, r.Username, err, where)
		}
	}
	records, missing, err := s.List(t.Context())
	if len(records) != len(want) || missing != nil || err != nil {
		t.Errorf("%d records, %v, %v", len(records), missing, err)
	}
	for _, r := range records {
		if r.Username != want[r.ID] {
			t.Errorf("%s is listed from %q, want %q", r.ID, r.Username, want[r.ID])
		}
	}
	if _, err := s.Get(t.Context(), "none"); fault.CodeOf(err) != fault.NotFound ||
		err.Error() != "job none not found" {
		t.Errorf("%v", err)
	}
}

// If NATS is away the records in the cluster are listed, and why there may be more.
// A user of NATS need not be allowed to read the cluster.
func TestListWithoutOneStore(t *testing.T) {
	s := withFallback(&memory{err: errAway})
	if err := put(t.Context(), s.cluster, Record{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if records, missing, err := s.List(t.Context()); len(records) != 1 || !errors.Is(missing, errAway) || err != nil {
		t.Errorf("%+v, %v, %v", records, missing, err)
	}
	s = withFallback(&memory{records: map[string]Record{"a": {ID: "a"}}})
	forbid(s, "list")
	if records, missing, err := s.List(t.Context()); len(records) != 1 || missing != nil || err != nil {
		t.Errorf("%+v, %v, %v", records, missing, err)
	}
}

// Records that wait in the cluster are moved if they are newer than what is in NATS.
// A record that is damaged, being moved by another command or not waiting stays.
func TestMove(t *testing.T) {
	nats := &memory{records: map[string]Record{
		"newer": {ID: "newer", UpdatedAt: at(9), Username: "nats"},
		"older": {ID: "older", UpdatedAt: at(0), Username: "nats"},
	}, contested: "contested"}
	s := withFallback(nats)
	for _, id := range []string{"newer", "older", "new", "contested"} {
		if err := put(t.Context(), s.pending(), Record{ID: id, UpdatedAt: at(5), Username: "cluster"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(t.Context(), s.cluster, Record{ID: "resident"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pending().Put(t.Context(), store.Document{Key: "damaged", Value: []byte("{")}); err != nil {
		t.Fatal(err)
	}
	if moved, err := s.Move(t.Context()); moved != 3 || err != nil {
		t.Errorf("%d moved, %v", moved, err)
	}
	for id, where := range map[string]string{"newer": "nats", "older": "cluster", "new": "cluster"} {
		if r := nats.records[id]; r.Username != where {
			t.Errorf("%s in NATS is that of %q, want %q", id, r.Username, where)
		}
	}
	var left []string
	documents, err := s.cluster.List(t.Context())
	for _, d := range documents {
		left = append(left, d.Key)
	}
	slices.Sort(left)
	if want := []string{"contested", "damaged", "resident"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%q are left, want %q: %v", left, want, err)
	}
}

// What has expired in the cluster is removed, and what waits there for NATS is moved.
func TestCleanUp(t *testing.T) {
	m := &memory{}
	s := withFallback(m)
	if err := put(t.Context(), s.pending(), Record{ID: "waits"}); err != nil {
		t.Fatal(err)
	}
	s.CleanUp(t.Context())
	if left, err := s.cluster.List(t.Context()); err != nil || len(left) != 0 || m.records["waits"].ID != "waits" {
		t.Errorf("%d are left, %+v in NATS, %v", len(left), m.records, err)
	}
	swept := func(a clienttesting.Action) bool { return a.GetVerb() == "delete-collection" }
	if actions := s.cluster.Client.(*fake.Clientset).Actions(); !slices.ContainsFunc(actions, swept) {
		t.Errorf("nothing is removed: %v", actions)
	}
}

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
		{"list", listed, nil, "nats list, cluster list", "both of nats, cluster of cluster, nats of nats, " +
			"waits of cluster"},
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
			t.Errorf("%s, %v fail: %q after %q; want %q after %q", test.name, test.fails, got,
				strings.Join(*asked, ", "), test.want, test.asked)
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
