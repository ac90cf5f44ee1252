package style

import (
	"math"
	"testing"
	"time"
)

func TestBar(t *testing.T) {
	a := Axis{Time: 10 * sc, Columns: 20}
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{0, 10 * sc, "===================="},
		{0, 5 * sc, "=========="},
		{5 * sc, 7 * sc, "          ===="},
		{sc, sc, "  ="},
		{10 * sc, 10 * sc, "                   ="},
		{20 * sc, 30 * sc, "                   ="},
		{-5 * sc, sc, "=="},
	} {
		if got := a.Bar(c.from, c.to, "="); got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	if got := a.Beside(a.Beside("==", 2*sc, "-"), 2100*ms, "."); got != "==--" {
		t.Errorf("a bar goes on: %q", got)
	}
	if got := (Axis{Columns: 20}).Bar(0, sc, "="); got != "=" {
		t.Errorf("no time: %q", got)
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		axis Axis
		want string
	}{
		{Axis{10 * sc, 20}, "0s        5s"},
		{Axis{12900 * ms, 50}, "0s                 5s                 10s"},
		{Axis{300 * ms, 32}, "0s        0.1s       0.2s"},
		{Axis{95 * sc, 40}, "0s                       1m"},
		{Axis{40 * time.Minute, 40}, "0s        10m       20m       30m"},
		{Axis{0, 40}, ""},
		{Axis{sc, 5}, "0s"},
		{Axis{1, 40}, "0s"},
		{Axis{math.MaxInt64, 40}, "0s"},
	} {
		got := c.axis.Scale()
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.axis, got, c.want)
		}
		if Width(got) > c.axis.Columns {
			t.Errorf("%v: %q is too wide", c.axis, got)
		}
	}
}
