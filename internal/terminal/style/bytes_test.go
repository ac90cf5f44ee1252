package style

import (
	"math"
	"testing"
)

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
