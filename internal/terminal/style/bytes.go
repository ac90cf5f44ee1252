package style

import (
	"strconv"
	"strings"
	"time"
)

// Bytes is a number of bytes as Kubernetes writes it, rounded to a tenth: 1.2Gi.
func Bytes(n int64) string {
	value, unit := float64(n), ""
	for _, next := range []string{"Ki", "Mi", "Gi", "Ti", "Pi"} {
		if value < 1023.95 { // which would be rounded to 1024.0
			break
		}
		value, unit = value/1024, next
	}
	text := strconv.FormatFloat(value, 'f', 1, 64)
	if whole, ok := strings.CutSuffix(text, ".0"); ok {
		text = whole
	}
	return text + unit
}

// Rate is how fast bytes went: 1.2MiB/s.
func Rate(n int64, took time.Duration) string {
	return Bytes(int64(float64(n)/max(took.Seconds(), 0.001))) + "B/s"
}
