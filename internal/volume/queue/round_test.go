package queue

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/volume"
)

// factor = 1 while free ≥ ceil(total × headroom), else free / that.
func TestFactor(t *testing.T) {
	for name, c := range map[string]struct {
		free, total int64
		headroom    float64
		want        float64
	}{
		"headroom 0.1 of 1000: free 110 → 1":     {110, 1000, 0.1, 1},
		"headroom 0.1 of 1000: free 100 → 1":     {100, 1000, 0.1, 1},
		"headroom 0.1 of 1000: free 99 → 0.99":   {99, 1000, 0.1, 0.99},
		"headroom 0.1 of 1000: free 0 → 0":       {0, 1000, 0.1, 0},
		"a part of a byte counts as one":         {100, 1001, 0.1, 100.0 / 101},
		"0.07 of 100 is 7, not a little more":    {7, 100, 0.07, 1},
		"no headroom: never under pressure":      {0, 1000, 0, 1},
		"all is headroom: what is free of all":   {250, 1000, 1, 0.25},
		"a disk of nothing":                      {0, 0, 0.1, 1},
		"free less than nothing (reserved) is 0": {-5, 1000, 0.1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Factor(c.free, c.total, c.headroom); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A disk is as full as what is scarcer, bytes or inodes.
func TestFactorOfInodes(t *testing.T) {
	for name, c := range map[string]struct {
		disk Disk
		want float64
	}{
		"both plenty":           {Disk{Free: 500, Total: 1000, FreeInodes: 500, Inodes: 1000}, 1},
		"few inodes":            {Disk{Free: 500, Total: 1000, FreeInodes: 50, Inodes: 1000}, 0.5},
		"few bytes":             {Disk{Free: 20, Total: 1000, FreeInodes: 50, Inodes: 1000}, 0.2},
		"no inodes are counted": {Disk{Free: 500, Total: 1000}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.disk.Factor(0.1); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func at(seconds int) time.Time {
	return time.Unix(1e9, 0).Add(time.Duration(seconds) * time.Second).UTC()
}

// Due when now > deleted + lifespan × factor (strictly).
func TestDue(t *testing.T) {
	for name, c := range map[string]struct {
		lifespan time.Duration
		factor   float64
		now      time.Time
		want     bool
	}{
		"before":                     {100 * time.Second, 1, at(99), false},
		"exactly then: not yet":      {100 * time.Second, 1, at(100), false},
		"a nanosecond later":         {100 * time.Second, 1, at(100).Add(1), true},
		"half the lifespan, exactly": {100 * time.Second, 0.5, at(50), false},
		"half the lifespan, later":   {100 * time.Second, 0.5, at(50).Add(1), true},
		"factor 0, the same moment":  {100 * time.Second, 0, at(0), false},
		"factor 0, later":            {100 * time.Second, 0, at(0).Add(1), true},
		"no lifespan":                {0, 1, at(0).Add(1), true},
		"a clock that was set back":  {100 * time.Second, 0, at(-10), false},
		"200 years, to the nanosecond": {
			200 * 365 * 24 * time.Hour, 1, at(0).Add(200 * 365 * 24 * time.Hour),
			false,
		},
		"200 years, and one nanosecond":   {200 * 365 * 24 * time.Hour, 1, at(0).Add(200*365*24*time.Hour + 1), true},
		"time that the driver was down":   {100 * time.Second, 1, at(100000), true},
		"without pressure, one day later": {12 * time.Hour, 1, at(24 * 3600), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Due(at(0), c.lifespan, c.factor, c.now); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// Lifespan is the pod's, but never longer than the node's.
func TestLifespan(t *testing.T) {
	hour, two, none := time.Hour, 2*time.Hour, time.Duration(0)
	for name, c := range map[string]struct {
		asked *time.Duration
		want  time.Duration
	}{
		"nothing is asked for": {nil, hour},
		"longer":               {&two, hour},
		"the same":             {&hour, hour},
		"none at all":          {&none, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Lifespan(c.asked, time.Hour); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// The number of volumes that wait is bounded: the oldest go first, and what is due or stays anyway counts.
func TestSurplus(t *testing.T) {
	const hour = time.Hour
	old := func(id string, seconds int, lifespan time.Duration) *entry {
		return &entry{Record: waits(id, seconds, lifespan)}
	}
	kept := func(e *entry) *entry { e.retry = at(1000); return e }
	for name, c := range map[string]struct {
		order  []*entry
		most   int
		factor float64
		want   string
	}{
		"no bound":                      {[]*entry{old("a", 1, hour), old("b", 2, hour)}, 0, 1, ""},
		"as many as may":                {[]*entry{old("a", 1, hour), old("b", 2, hour)}, 2, 1, ""},
		"one too many: the oldest goes": {[]*entry{old("a", 1, hour), old("b", 2, hour), old("c", 3, hour)}, 2, 1, "a"},
		"two too many": {
			[]*entry{old("a", 1, hour), old("b", 2, hour), old("c", 3, hour)}, 1, 1, "a b",
		},
		"a younger one that is due makes room": {
			[]*entry{old("a", 1, hour), old("b", 2, hour), old("c", 3, time.Second)}, 2, 1, "",
		},
		"one that is due is not enough": {
			[]*entry{old("a", 1, hour), old("b", 2, hour), old("c", 3, time.Second)}, 1, 1, "a",
		},
		"under pressure all are due": {
			[]*entry{old("a", 1, hour), old("b", 2, hour), old("c", 3, hour)}, 1, 0, "",
		},
		"one that cannot be removed stays, and the next goes": {
			[]*entry{kept(old("a", 1, hour)), old("b", 2, hour), old("c", 3, hour)}, 2, 1, "b",
		},
		"more stay than may": {
			[]*entry{kept(old("a", 1, hour)), kept(old("b", 2, hour)), old("c", 3, hour)}, 1, 1, "c",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(ids(surplus(c.order, c.factor, at(100), c.most)), " "); got != c.want {
				t.Errorf("go %q, want %q", got, c.want)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		1: 5 * time.Second, 2: 10 * time.Second, 3: 20 * time.Second, 7: 320 * time.Second, 8: 10 * time.Minute,
		1000: 10 * time.Minute,
	} {
		if got := Backoff(failures); got != want {
			t.Errorf("after %d failures %s, want %s", failures, got, want)
		}
	}
}

func TestDecode(t *testing.T) {
	whole := Record{Volume: volume.Volume{
		ID: "v", PodUID: "p", Namespace: "ns", Pod: "pod", Workspace: "w", UserString: "u", Storage: "s",
		Published: at(1), Deleted: at(2), Lifespan: time.Hour, Bytes: 3, Inodes: 4,
	}, Target: "/t", Asked: new(2 * time.Hour)}
	text, err := encode(whole)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode("v", text); err != nil || !reflect.DeepEqual(got, whole) {
		t.Errorf("it comes back as %+v, %v", got, err)
	}
	for name, c := range map[string]string{
		"not JSON":                    `{"id":`,
		"another volume":              `{"id":"w","podUID":"p","lifespan":"1h"}`,
		"a pod that leads elsewhere":  `{"id":"v","podUID":"..","lifespan":"1h"}`,
		"a pod that is a path":        `{"id":"v","podUID":"a/b","lifespan":"1h"}`,
		"no lifespan":                 `{"id":"v","podUID":"p"}`,
		"a lifespan less than none":   `{"id":"v","podUID":"p","lifespan":"-1h"}`,
		"a time in words":             `{"id":"v","podUID":"p","lifespan":"1h","deleted":"yesterday"}`,
		"an afterlife less than none": `{"id":"v","podUID":"p","lifespan":"1h","asked":"-1h"}`,
		"an afterlife in words":       `{"id":"v","podUID":"p","lifespan":"1h","asked":"long"}`,
		"something else than a field": `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := decode("v", []byte(c)); err == nil {
				t.Errorf("it is read as %+v", r)
			}
		})
	}
}

// A record of before it was kept what the pod asked for is not given more than it had.
func TestDecodeAsked(t *testing.T) {
	for record, want := range map[string]time.Duration{
		`{"id":"v","podUID":"p","lifespan":"1h"}`:              time.Hour,
		`{"id":"v","podUID":"p","lifespan":"1h","asked":""}`:   5 * time.Hour,
		`{"id":"v","podUID":"p","lifespan":"1h","asked":"3h"}`: 3 * time.Hour,
		`{"id":"v","podUID":"p","lifespan":"1h","asked":"9h"}`: 5 * time.Hour,
		`{"id":"v","podUID":"p","lifespan":"1h","asked":"0s"}`: 0,
	} {
		r, err := decode("v", []byte(record))
		if got := Lifespan(r.Asked, 5*time.Hour); err != nil || got != want {
			t.Errorf("%s: it stays for %s, %v", record, got, err)
		}
	}
}
