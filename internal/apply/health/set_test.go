package health

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// A failure that another object may end is waited for as long as there are others on their way,
// and a while after the last of them has come.
func TestMayPassUntil(t *testing.T) {
	since := time.Unix(1000, 0)
	after := since.Add
	for name, test := range map[string]struct {
		arrived time.Time
		others  bool
		want    time.Time
	}{
		"alone":                   {want: after(time.Second)},
		"others are on their way": {others: true, want: after(2 * time.Minute)},
		"the last has come":       {arrived: after(10 * time.Second), want: after(70 * time.Second)},
		"the last has come late":  {arrived: after(100 * time.Second), want: after(2 * time.Minute)},
		"some have come, and some have not": {
			arrived: after(10 * time.Second), others: true,
			want: after(2 * time.Minute),
		},
	} {
		if got := mayPassUntil(since, test.arrived, test.others); !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", name, got.Sub(since), test.want.Sub(since))
		}
	}
}

func TestIsOver(t *testing.T) {
	failed, passing, underWay := Reading{State: Failed}, Reading{State: Failed, MayPass: true},
		Reading{State: InProgress}
	for name, test := range map[string]struct {
		rest   []Reading
		lasted time.Duration
		want   bool
	}{
		"on its way":                      {rest: []Reading{underWay}, lasted: time.Hour},
		"failed":                          {rest: []Reading{underWay, failed}, want: true},
		"failed, and may pass":            {rest: []Reading{passing}, lasted: time.Minute},
		"failed, and has not for so long": {rest: []Reading{passing}, lasted: 2 * time.Minute, want: true},
	} {
		if got := IsOver(test.rest, test.lasted); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// knowing is an inspector that knows of one object why it does not get on, once it was opened.
type knowing struct {
	name    string
	state   State
	opened  bool
	changed chan struct{}
}

func (k *knowing) Open(context.Context, []Reading) {
	if !k.opened {
		k.opened = true
		close(k.changed)
		k.changed = make(chan struct{})
	}
}

func (k *knowing) Inspect(r Reading) (Reading, time.Time) {
	if k.opened && r.Object.GetName() == k.name {
		r.State, r.Message, r.Cause = k.state, "ImageNotFound: no image",
			&v1.Cause{Code: "ImageNotFound", Hint: "push it"}
	}
	return r, time.Time{}
}

func (k *knowing) Changed() <-chan struct{} { return k.changed }

// What is behind an object ends the wait with its cause and what to do.
func TestWaitLooksBehind(t *testing.T) {
	server, view, objects := start(t)
	server.Put(at+"a", deployment(t, available))
	k := &knowing{name: "b", state: Failed, changed: make(chan struct{})}
	var told []string
	rest, err := Wait(t.Context(), view, objects, time.Minute, k, func(r Reading) {
		told = append(told, r.Object.GetName()+" "+string(r.State))
	})
	if fault.CodeOf(err) != fault.Failed || fault.From(err).Hint != "push it" || len(rest) != 1 ||
		rest[0].Cause == nil {
		t.Errorf("%v, %v", rest, err)
	}
	if want := "1 object has failed: deployment/b in namespace team: ImageNotFound: no image"; err.Error() != want {
		t.Errorf("%s, want %s", err, want)
	}
	if got := strings.Join(told, ", "); !strings.HasSuffix(got, "b Failed") || !strings.Contains(got, "b InProgress") {
		t.Errorf("it told %s", got)
	}
}

// What is healthy at once is not looked behind, and what is behind the others is only told
// while they may still come.
func TestWaitLooksBehindInVain(t *testing.T) {
	server, view, objects := start(t)
	server.Put(at+"a", deployment(t, available))
	server.Put(at+"b", deployment(t, available))
	k := &knowing{name: "b", state: Failed, changed: make(chan struct{})}
	if _, err := Wait(t.Context(), view, objects, time.Minute, k, func(Reading) {}); err != nil || k.opened {
		t.Errorf("%v, opened %t", err, k.opened)
	}
	server.Put(at+"b", deployment(t, ""))
	k.state = InProgress
	rest, err := Wait(t.Context(), view, objects, time.Minute, k, func(r Reading) {
		if r.Cause != nil {
			server.Put(at+"b", deployment(t, available))
		}
	})
	if err != nil || len(rest) > 0 {
		t.Errorf("%v, %v", rest, err)
	}
}
