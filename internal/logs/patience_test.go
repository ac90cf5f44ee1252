package logs

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// all is the request for a whole log, followed.
var all = Request{Container: "main", Follow: true, Tail: -1}

// answer is what comes of a request for a log.
type answer func() (io.Reader, error)

// answers are those of a cluster, one after the other; the last one for ever.
type answers struct {
	all   []answer
	asked int
}

// away is a client of a cluster that answers so.
func away(t *testing.T, all ...answer) *kube.Client {
	t.Helper()
	config := &rest.Config{Host: "http://cluster", Transport: &answers{all: all}, QPS: -1}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &kube.Client{Interface: typed, Config: config, Namespace: "dev"}
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	next := a.all[min(a.asked, len(a.all)-1)]
	a.asked++
	body, err := next()
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}},
		Body: io.NopCloser(body), Request: r,
	}, nil
}

// silence is a log that breaks off after so long without a line.
type silence time.Duration

func (s silence) Read([]byte) (int, error) {
	time.Sleep(time.Duration(s))
	return 0, syscall.ECONNRESET
}

// How long a log was quiet does not count against the cluster, only for how long it
// has been away.
func TestFollowPatiently(t *testing.T) {
	quiet := func() (io.Reader, error) { return silence(2 * patience), nil }
	short := func() (io.Reader, error) { return silence(time.Second), nil }
	gone := func() (io.Reader, error) { return nil, syscall.ECONNREFUSED }
	line := func() (io.Reader, error) { return strings.NewReader("2026-01-01T00:00:00.1Z a\n"), nil }
	for name, c := range map[string]struct {
		answers []answer
		out     string
		code    fault.Code
		least   time.Duration
		most    time.Duration
	}{
		"quiet, and lost": {[]answer{quiet, line}, "a\n", "", 2 * patience, 3 * patience},
		"quiet, and away": {[]answer{quiet, gone, gone, gone, line}, "a\n", "", 2 * patience, 3 * patience},
		"quiet, and gone": {[]answer{quiet, gone}, "", fault.Unavailable, 3 * patience, 3*patience +
			2*longestPause},
		"gone at once": {[]answer{gone}, "", fault.Unavailable, patience, patience + 2*longestPause},
		"lost every second, no lines": {
			append(slices.Repeat([]answer{short}, 200), line), "a\n", "", 200 * time.Second,
			300 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				began := time.Now()
				err := Copy(t.Context(), away(t, c.answers...), runs(), all, &out)
				if fault.CodeOf(err) != c.code || out.String() != c.out {
					t.Errorf("%q, %v", out.String(), err)
				}
				if took := time.Since(began); took < c.least || took > c.most {
					t.Errorf("it took %s, want %s to %s", took, c.least, c.most)
				}
			})
		})
	}
}
