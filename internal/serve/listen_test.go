package serve

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/fault"
)

func TestPlainHTTPIsForThisHost(t *testing.T) {
	c := Config{Listen: "0.0.0.0:0", MetricsListen: "127.0.0.1:0", Timeouts: DefaultTimeouts()}
	if err := Run(t.Context(), c); fault.CodeOf(err) != fault.InvalidArgument ||
		!strings.Contains(err.Error(), "plain HTTP is served on this host only, not on 0.0.0.0:0") {
		t.Errorf("the error is %v", err)
	}
	c.Listen, c.MetricsListen = "127.0.0.1:0", ":0"
	if err := Run(t.Context(), c); fault.CodeOf(err) != fault.InvalidArgument ||
		!strings.Contains(fault.From(err).Hint, "--metrics-listen") {
		t.Errorf("the error is %v", err)
	}
	s := run(t, http.NotFoundHandler(), certtest.Pair{}, nil)
	if status, _ := s.get(t, "http://"+s.role); status != 404 {
		t.Errorf("on this host the answer is %d", status)
	}
}

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
