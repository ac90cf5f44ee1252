package style

import (
	"math"
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

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "1", 1023: "1023", 1024: "1Ki", 1536: "1.5Ki", 1048524: "1023.9Ki", 1048575: "1Mi",
		20 << 30: "20Gi", 1288490188: "1.2Gi", 3 << 40: "3Ti", math.MaxInt64: "8192Pi",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
