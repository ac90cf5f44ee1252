package serve

import (
	"testing"
	"time"
)

func TestSilent(t *testing.T) {
	for name, c := range map[string]struct {
		last acknowledgement
		want bool
	}{
		"has just acknowledged":                       {acknowledgement{}, false},
		"has just been sent something":                {acknowledgement{missing: true, ago: 31 * time.Second}, false},
		"does not acknowledge what it has room for":   {acknowledgement{missing: true, ago: time.Minute}, true},
		"has no room, and says so when it is asked":   {acknowledgement{ago: 2*time.Minute + 10*time.Second}, false},
		"has no room, and has missed one question":    {acknowledgement{ago: 4*time.Minute + 10*time.Second}, false},
		"has no room, and has not answered questions": {acknowledgement{ago: 5 * time.Minute}, true},
	} {
		if got := c.last.silent(); got != c.want {
			t.Errorf("who %s is silent: %t", name, got)
		}
	}
}
