package pod

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// What an error of client-go means.
func TestFailure(t *testing.T) {
	client := clientOf(t, http.NotFoundHandler())
	for text, c := range map[string]struct {
		err  error
		code fault.Code
		says string
	}{
		"websocket": {errors.New("error reading from error stream: next reader: websocket: close 1006 (abnormal closure): unexpected EOF"), fault.Unavailable, "was lost"},
		"reset": {fmt.Errorf("read tcp: %w",
			&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}), fault.Unavailable, "was lost"},
		"end": {io.EOF, fault.Unavailable, "was lost"},
		"refused": {
			&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
			fault.Unavailable, "cannot be reached",
		},
		"kubelet": {
			errors.New("error dialing backend: dial tcp 10.0.0.1:10250: connect: connection refused"),
			fault.Unavailable, "the node of workspace alice",
		},
		"no login": {errors.New(`unable to upgrade connection: {"kind":"Status","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`), fault.Unauthenticated, "does not accept your credentials"},
		"a proxy's login": {
			errors.New("unable to upgrade connection: HTTP 401 from a proxy"), fault.Unauthenticated,
			"does not accept your credentials",
		},
		"a login page": {errors.New("unable to upgrade connection: a proxy answered with a page in HTML, such as one to log in, not the API server"), fault.Unavailable, "a page in HTML"},
		"it has ended": {errors.New("rpc error: code = NotFound desc = failed to exec in container: failed to load task: no running task found: task 24e8 not found: not found"), fault.Failed, "workspace alice does not run any more, or not yet"},
		"something else": {
			errors.New("never seen"), fault.Internal,
			"cannot run the command in workspace alice: never seen",
		},
	} {
		if err := failure(c.err, client, Request{Pod: "alice", Command: []string{"ls"}}); fault.CodeOf(err) != c.code ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v (%s)", text, err, fault.CodeOf(err))
		}
	}
	if err := failure(nil, client, Request{}); err != nil {
		t.Error(err)
	}
}

// A hint names the workspace, not the pod of the workload that it may be in, and where
// it is.
func TestHintsNameTheWorkspace(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "shop-5d4f-x", Namespace: "dev", Labels: map[string]string{
		kube.LabelCanonicalID: "alice-2bd806c", kube.LabelInjected: "true",
	}}}
	_, err := Into(pod)
	if got := fault.From(err).Hint; got != "see why: berth status id/alice-2bd806c --namespace dev" {
		t.Errorf("hint %q", got)
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  kube.MainContainer(pod.Labels),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
	r, err := Into(pod)
	if err != nil || r.Pod != pod.Name || r.Container != kube.MainContainer(pod.Labels) {
		t.Fatalf("%+v, %v", r, err)
	}
	client := clientOf(t, http.NotFoundHandler())
	for _, c := range []struct {
		err  error
		hint string
	}{
		{errors.New("error dialing backend: EOF"), "see its state: berth status id/alice-2bd806c --namespace dev"},
		{io.EOF, "it may still be running there: `berth exec id/alice-2bd806c --namespace dev -- ps` shows its processes"},
	} {
		if got := fault.From(failure(c.err, client, r)).Hint; got != c.hint {
			t.Errorf("%v: hint %q", c.err, got)
		}
	}
}
