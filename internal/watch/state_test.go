package watch

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// podAt is a pod as it was stored at a version.
func podAt(uid types.UID, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "web", UID: uid, ResourceVersion: version}}
}

// known are the pods that are there, with their versions, and those that are gone.
func known(s State) string {
	var there, gone []string
	for _, pod := range s.Pods() {
		there = append(there, string(pod.UID)+"@"+pod.ResourceVersion)
	}
	for _, uid := range []types.UID{"1", "2", "3"} {
		if s.IsGone(uid) {
			gone = append(gone, string(uid))
		}
	}
	return fmt.Sprint(there, gone)
}

// What a state makes of what it is told: the newest of each object, and never one again that is gone.
func TestStateOfObjects(t *testing.T) {
	everything := func(metav1.Object) bool { return true }
	begin := NewState(Subject{Kind: KindPod, Namespace: "dev", Name: "web"}).
		Apply(apiwatch.Added, podAt("1", "5")).Apply(apiwatch.Added, podAt("2", "7"))
	list := func(version string, pods ...runtime.Object) State { return begin.Replace(pods, version, everything) }
	for name, c := range map[string]struct {
		state State
		want  string
	}{
		"at first": {begin, "[1@5 2@7] []"},
		"newer":    {begin.Apply(apiwatch.Modified, podAt("1", "9")), "[2@7 1@9] []"},
		"older":    {begin.Apply(apiwatch.Modified, podAt("1", "4")), "[1@5 2@7] []"},
		"again":    {begin.Apply(apiwatch.Added, podAt("1", "5")), "[1@5 2@7] []"},
		"removed":  {begin.Apply(apiwatch.Deleted, podAt("1", "8")), "[2@7] [1]"},
		"removed, and told of after": {begin.Apply(apiwatch.Deleted, podAt("1", "8")).
			Apply(apiwatch.Modified, podAt("1", "9")), "[2@7] [1]"},
		"a bookmark":                 {begin.Apply(apiwatch.Bookmark, podAt("3", "9")), "[1@5 2@7] []"},
		"a Status":                   {begin.Apply(apiwatch.Error, &metav1.Status{}), "[1@5 2@7] []"},
		"listed":                     {list("9", podAt("1", "5"), podAt("3", "9")), "[1@5 3@9] [2]"},
		"listed before it was there": {list("6", podAt("1", "5")), "[1@5 2@7] []"},
		"listed as it was written":   {list("7", podAt("1", "5")), "[1@5] [2]"},
		"listed, older":              {list("9", podAt("1", "4"), podAt("2", "7")), "[1@5 2@7] []"},
		"an empty list":              {list("9"), "[] [1 2]"},
		"of others": {
			begin.Replace(nil, "9", func(o metav1.Object) bool { return o.GetUID() == "1" }),
			"[2@7] [1]",
		},
		"looked for":            {begin.Absent("3"), "[1@5 2@7] [3]"},
		"looked for, and there": {begin.Absent("1"), "[1@5 2@7] []"},
	} {
		if got := known(c.state); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := known(begin); got != "[1@5 2@7] []" {
		t.Errorf("what follows has changed it: %s", got)
	}
}

// The pod of a name is the newest there is, or the one that is expected, even when that is gone.
func TestPodOfAState(t *testing.T) {
	begin := NewState(Subject{Kind: KindPod, Namespace: "dev", Name: "web"})
	both := begin.Apply(apiwatch.Added, podAt("1", "5")).Apply(apiwatch.Added, podAt("2", "7"))
	other := podAt("3", "9")
	other.Name = "other"
	for name, c := range map[string]struct {
		state State
		uid   types.UID
		gone  bool
	}{
		"none":                 {begin, "", false},
		"the newest":           {both, "2", false},
		"not another one":      {both.Apply(apiwatch.Added, other), "2", false},
		"the one that is left": {both.Apply(apiwatch.Deleted, podAt("2", "8")), "1", false},
		"the last that was there": {
			both.Apply(apiwatch.Deleted, podAt("1", "8")).Apply(apiwatch.Deleted, podAt("2", "9")),
			"2", true,
		},
		"the one that is expected": {both.Expect("1"), "1", false},
		"it is not there yet":      {both.Expect("3"), "", false},
		"it is gone":               {both.Expect("1").Apply(apiwatch.Deleted, podAt("1", "8")), "1", true},
		"it was never seen":        {both.Expect("3").Absent("3"), "", true},
		"another one is gone":      {begin.Expect("1").Apply(apiwatch.Deleted, podAt("2", "8")), "", false},
	} {
		pod, gone := c.state.Pod()
		if gone != c.gone || (pod != nil) != (c.uid != "") || pod != nil && pod.UID != c.uid {
			t.Errorf("%s: %v, gone: %t", name, pod, gone)
		}
	}
}

// Of many events about one object with one reason the first and the newest are kept, and of all
// events no more than so many.
func TestEventsAreFolded(t *testing.T) {
	event := func(n int, reason string) *corev1.Event {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID(fmt.Sprint(reason, n)), ResourceVersion: fmt.Sprint(n)},
			Reason:     reason, Count: 1,
			InvolvedObject: corev1.ObjectReference{UID: "1"}, LastTimestamp: metav1.Unix(1795218600+int64(n), 0),
		}
	}
	versions := func(s State) (all []string) {
		for _, e := range s.eventsAbout("1") {
			all = append(all, fmt.Sprintf("%s*%d", e.ResourceVersion, e.Count))
		}
		return all
	}
	s := NewState(Subject{Kind: KindPod, Namespace: "dev", Name: "web"})
	for n := range 11 {
		s = s.Apply(apiwatch.Added, event(n+1, "a"))
	}
	if got := versions(s); len(got) != 11 ||
		slices.ContainsFunc(got, func(v string) bool { return v[len(v)-2:] != "*1" }) {
		t.Errorf("eleven: %q", got)
	}
	for n := 11; n < 14; n++ {
		s = s.Apply(apiwatch.Added, event(n+1, "a"))
	}
	want := []string{"1*1", "2*1", "3*4", "7*1", "8*1", "9*1", "10*1", "11*1", "12*1", "13*1", "14*1"}
	if got := versions(s); !slices.Equal(got, want) {
		t.Errorf("fourteen: %q, want %q", got, want)
	}
	if e := s.eventsAbout("1")[2]; e.LastTimestamp.Unix() != 1795218606 {
		t.Errorf("those in between were seen last at %s", e.LastTimestamp)
	}
	s = NewState(Subject{Kind: KindPod, Namespace: "dev", Name: "web"})
	for n := range mostEvents + 2 {
		s = s.Apply(apiwatch.Added, event(n+1, fmt.Sprint("r", n)))
		if n == mostEvents-1 && len(versions(s)) != 256 {
			t.Errorf("as many as there may be: %d", len(versions(s)))
		}
	}
	if got := versions(s); len(got) != 256 || got[0] != "3*1" {
		t.Errorf("of more than there may be: %d, the first is %s", len(got), got[0])
	}
}
