package observe

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// object is one of an instance, as its metadata says that it is.
func object(instance, uid, version string, generation int64, annotations ...string) *mark {
	o := metav1.ObjectMeta{
		UID: types.UID(uid), ResourceVersion: version, Generation: generation, Annotations: map[string]string{},
		Labels: map[string]string{v1alpha1.LabelOwnerName: instance},
	}
	for _, a := range annotations {
		o.Annotations[a] = a
	}
	m := markOf(&o)
	return &m
}

func TestChangeOf(t *testing.T) {
	for name, test := range map[string]struct {
		before, now *mark
		want        change
	}{
		"it is new":                 {nil, object("web", "1", "1", 1), nothing},
		"it is gone":                {object("web", "1", "1", 1), nil, content},
		"it was made again":         {object("web", "1", "1", 1), object("web", "2", "5", 1), content},
		"listed again":              {object("web", "1", "1", 1), object("web", "1", "1", 1), nothing},
		"its spec":                  {object("web", "1", "1", 1), object("web", "1", "2", 2), content},
		"its status":                {object("web", "1", "1", 1), object("web", "1", "2", 1), status},
		"an annotation":             {object("web", "1", "1", 1), object("web", "1", "2", 1, "a"), content},
		"a kind without generation": {object("web", "1", "1", 0), object("web", "1", "2", 0), content},
		"it is given to another":    {object("web", "1", "1", 1), object("shop", "1", "2", 1), content},
	} {
		c, of := changeOf(test.before, test.now)
		if want := test.before; c != test.want || want != nil && of != want.instance {
			t.Errorf("%s: %d of %q, want %d", name, c, of, test.want)
		}
	}
}

// What changes together is looked at once; a status that changes all the time delays no repair, and an object about
// which two controllers do not agree is not written all the time.
func TestPace(t *testing.T) {
	type told struct {
		at   time.Duration
		what change
	}
	every := func(n int, d time.Duration, what change) (all []told) {
		for i := range n {
			all = append(all, told{time.Duration(i) * d, what})
		}
		return all
	}
	minute := time.Minute
	for name, test := range map[string]struct {
		told []told
		want []time.Duration // looked at; more than is listed is counted
		most int
	}{
		"one object is edited": {told: []told{{0, content}}, want: []time.Duration{afterContent}},
		"health changes":       {told: []told{{0, status}}, want: []time.Duration{afterStatus}},
		"a hundred objects are gone": {
			told: every(100, time.Millisecond, content), want: []time.Duration{afterContent},
		},
		"an edit comes with a status": {told: []told{{0, status}, {0, content}}, want: []time.Duration{afterContent}},
		"a status comes with an edit": {told: []told{{0, content}, {0, status}}, want: []time.Duration{afterContent}},
		"a second edit, later": {
			told: []told{{0, content}, {3 * time.Second, content}},
			want: []time.Duration{afterContent, 3*time.Second + afterContent},
		},
		"a status each second":          {told: every(600, time.Second, status), most: atOnce + 10*3},
		"an edit each second, reverted": {told: every(600, time.Second, content), most: atOnce + 10*12},
		"an edit after many a status": {
			told: append(every(60, time.Second, status), told{minute, content}),
			want: []time.Duration{minute + afterContent},
		},
	} {
		begun, p := time.Unix(0, 0), newPace()
		looked := map[time.Duration]bool{}
		look := func(until time.Time) {
			if !p.at.IsZero() && !p.at.After(until) {
				looked[p.at.Sub(begun)] = true
				p.at = time.Time{}
			}
		}
		for _, told := range test.told {
			look(begun.Add(told.at))
			p.next(told.what, begun.Add(told.at))
		}
		look(begun.Add(24 * time.Hour))
		for _, at := range test.want {
			if !looked[at] {
				t.Errorf("%s: it is looked at after %v, and not after %s", name, looked, at)
			}
		}
		if most := max(test.most, len(test.want)); name != "an edit after many a status" && len(looked) > most {
			t.Errorf("%s: it is looked at %d times, more than %d", name, len(looked), most)
		}
	}
}

// What changes while a pass is under way is looked at once it has ended, as it may not have seen that; but not what a
// pass has done that failed, which would begin it again and again.
func TestPaceOfPasses(t *testing.T) {
	now := time.Unix(0, 0)
	for name, test := range map[string]struct {
		meanwhile []change
		failed    bool
		want      change
		later     time.Duration // when another change comes
		looked    bool          // whether it counts
	}{
		"nothing has changed":               {nil, false, nothing, 0, true},
		"the pass has written":              {[]change{content, status}, false, content, 0, true},
		"a status has changed":              {[]change{status}, false, status, 0, true},
		"it has written, and failed":        {[]change{content}, true, nothing, afterFailure / 2, false},
		"it has failed, and others go on":   {nil, true, nothing, afterFailure, true},
		"it has failed, and is told of all": {[]change{content, content}, true, nothing, 0, false},
	} {
		p := newPace()
		p.next(content, now)
		p.begin()
		for _, c := range test.meanwhile {
			if _, moved := p.next(c, now); moved {
				t.Errorf("%s: it is looked at beside a pass", name)
			}
		}
		if got := p.end(test.failed, now); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
		if _, moved := p.next(content, now.Add(test.later)); moved != test.looked {
			t.Errorf("%s: what comes later counts: %t", name, moved)
		}
	}
}
