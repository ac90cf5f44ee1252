package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/watch/watchtest"
)

// refused is what a client says whose API server does not run.
func refused() error {
	return &url.Error{
		Op: "Get", URL: "https://10.0.0.1:6443/api/v1/namespaces/dev/pods?fieldSelector=a%3Db",
		Err: &net.OpError{
			Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
		},
	}
}

func (fw *follow) notices() (messages []string) {
	for _, c := range fw.changes() {
		for _, n := range c.Notices {
			messages = append(messages, n.Message)
		}
	}
	return messages
}

// However many watches there are and however often they are tried, the user is
// notified once that they are interrupted and once that they are restored.
func TestOneNoticeOfAnOutage(t *testing.T) {
	following(t, func(t *testing.T, fw *follow) {
		fw.pods.add(watchtest.NewPod("web", "1", watchtest.OnNode).Version(5).Pod)
		both := func(change func(*server)) { fw.pods.set(change); fw.events.set(change) }
		const interrupted, again = "connection lost, retrying: connection refused", "connection restored"
		var want []string
		for range 2 {
			both(func(s *server) { s.refuse = refused() })
			fw.pods.live.Stop()
			fw.events.live.Stop()
			time.Sleep(7 * time.Second)
			want = append(want, interrupted)
			if got := fw.notices(); !slices.Equal(got, want) {
				t.Fatalf("while it lasts: %q, want %q", got, want)
			}
			// It is over when the last watch is open again.
			fw.pods.set(func(s *server) {
				s.refuse, s.held.ResourceVersion = nil, "9"
				s.held.Items = []corev1.Pod{*watchtest.NewPod("web", "1", watchtest.OnNode).Version(5).Pod}
			})
			time.Sleep(longestPause)
			if got := fw.notices(); !slices.Equal(got, want) {
				t.Fatalf("half over: %q, want %q", got, want)
			}
			fw.events.set(func(s *server) { s.refuse = nil })
			time.Sleep(longestPause + watchGrace + time.Second) // long enough for the watches to count as restored
			want = append(want, again)
			if got := fw.notices(); !slices.Equal(got, want) {
				t.Fatalf("over: %q, want %q", got, want)
			}
		}
	})
}

// An interruption that is over before it could be reported is not reported.
func TestNoNoticeOfWhatIsOver(t *testing.T) {
	pods, events := &input{}, &input{}
	o := outage{}
	o.began(pods, refused())
	o.began(events, refused())
	o.ended(events)
	o.ended(pods)
	o.ended(pods)
	if len(o.notices) != 0 {
		t.Errorf("%+v", o.notices)
	}
}

func TestShortCause(t *testing.T) {
	lost := apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "get", schema.GroupResource{}, "",
		"starting", 0, true)
	decoding := &apierrors.StatusError{ErrStatus: metav1.Status{
		Message: `an error on the server ("unable to decode an event from the watch stream: http2: client connection ` +
			`lost") has prevented the request from succeeding`,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
			{
				Type:    metav1.CauseTypeUnexpectedServerResponse,
				Message: "unable to decode an event from the watch stream: http2: client connection lost",
			},
		}},
	}}
	for _, test := range []struct {
		err  error
		want string
	}{
		{refused(), "connection refused"},
		{fmt.Errorf("list: %w", refused()), "connection refused"},
		{&url.Error{Op: "Get", URL: "https://x", Err: io.EOF}, "EOF"},
		{&url.Error{Op: "Get", URL: "https://x", Err: context.DeadlineExceeded}, "no answer within 30s"},
		{fmt.Errorf("no answer within 30s: %w", context.Canceled), "no answer within 30s"},
		{decoding, "http2: client connection lost"},
		{lost, "starting"},
		{errors.New("nothing came for 2m10s"), "nothing came for 2m10s"},
	} {
		if got := shortCause(test.err); got != test.want {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
}
