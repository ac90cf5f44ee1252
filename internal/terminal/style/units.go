package style

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Brief tells a duration with the precision that matters: 0.04s, 18.2s, 41s,
// 2m, 2m5s, 1h3m.
func Brief(d time.Duration) string {
	switch {
	case d < 0:
		return "0.0s"
	case d < 995*time.Millisecond:
		return strings.TrimSuffix(fmt.Sprintf("%.2f", d.Seconds()), "0") + "s"
	case d < 59950*time.Millisecond:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	default:
		return Whole(d)
	}
}

// Whole tells a duration that is still growing: full seconds are enough.
func Whole(d time.Duration) string {
	if d = max(d, 0).Round(time.Second); d >= time.Hour {
		d = d.Truncate(time.Minute)
	}
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(d.String())
}

// Tenths tells a stage's duration inside a summary, where the unit is clear.
func Tenths(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f", d.Seconds())
	}
	return Whole(d)
}

// Seconds is the duration that a document tells in seconds.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Age tells an age as kubectl does: 3h, 2m, 6d.
func Age(since, now time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return duration.HumanDuration(max(now.Sub(since), 0))
}

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
