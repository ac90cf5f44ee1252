package style

import (
	"testing"
	"time"
)

const (
	ms = time.Millisecond
	sc = time.Second
)

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-sc: "0.0s", 0: "0.0s", 40 * ms: "0.04s", 100 * ms: "0.1s", 996 * ms: "1s", 18240 * ms: "18.2s",
		41 * sc: "41s", 59960 * ms: "1m", 120 * sc: "2m", 125 * sc: "2m5s", 3780 * sc: "1h3m", 7200 * sc: "2h",
	} {
		if got := Brief(d); got != want {
			t.Errorf("brief(%s) = %s, want %s", d, got, want)
		}
	}
}
