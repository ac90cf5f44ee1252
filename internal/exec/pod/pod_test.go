package pod

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
)

// oldServer is an API server that knows SPDY alone. Its command echoes what it
// reads and what size its terminal has, and ends as ending says.
type oldServer struct {
	ending  string        // of the error stream: a Status
	running chan struct{} // if it is not nil, the command closes it and runs until the client goes

	mu      sync.Mutex
	asked   []string // the methods of the requests, with the protocol that each wants
	queries []string
}

func (s *oldServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+strings.ToLower(r.Header.Get("Upgrade")))
	s.queries = append(s.queries, r.URL.Path+"?"+r.URL.RawQuery)
	s.mu.Unlock()
	kubetest.Exec(w, r, s.command)
}

func (s *oldServer) command(streams map[string]httpstream.Stream) {
	if s.running != nil {
		close(s.running)
		return
	}
	if resize := streams["resize"]; resize != nil {
		sizes := json.NewDecoder(resize)
		for range 2 {
			var size remotecommand.TerminalSize
			if err := sizes.Decode(&size); err != nil {
				return
			}
			fmt.Fprintf(streams["stdout"], "%dx%d\n", size.Width, size.Height)
		}
	}
	if stdin := streams["stdin"]; stdin != nil {
		_, _ = io.Copy(streams["stdout"], stdin)
	}
	if stderr := streams["stderr"]; stderr != nil {
		_, _ = io.WriteString(stderr, "so it ends")
		_ = stderr.Close()
	}
	_, _ = io.WriteString(streams["error"], s.ending)
	_ = streams["stdout"].Close()
	_ = streams["error"].Close()
}

// clientOf gives a client of a server, in the namespace dev.
func clientOf(t *testing.T, handler http.Handler) *kube.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &kube.Client{Interface: typed, Config: config, Namespace: "dev"}
}

func exited(status string) string {
	return `{"status":"Failure","reason":"NonZeroExitCode","message":"command terminated with non-zero exit code",
		"details":{"causes":[{"reason":"ExitCode","message":"` + status + `"}]}}`
}

// What the command ends with is passed on; anything else is an error of the
// right kind.
func TestRun(t *testing.T) {
	for name, test := range map[string]struct {
		ending string
		status int
		code   fault.Code
	}{
		"success":    {`{"status":"Success"}`, 0, ""},
		"a failure":  {exited("3"), 3, ""},
		"125 as any": {exited("125"), 125, ""},
		"killed":     {exited("137"), 137, ""},
		"no program": {
			`{"status":"Failure","reason":"InternalError",` +
				`"message":"exec: \"nosuch\": executable file not found in $PATH"}`,
			0, fault.InvalidArgument,
		},
		"a runtime that is broken": {
			`{"status":"Failure","reason":"InternalError","message":"cannot start"}`, 0, fault.Internal,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := &oldServer{ending: test.ending}
			var stdout, stderr bytes.Buffer
			status, err := Run(t.Context(), clientOf(t, server), Request{
				Pod: "alice", Container: "main", Command: []string{"nosuch", "-x"},
				Session: exec.Session{Stdin: strings.NewReader("hello"), Stdout: &stdout, Stderr: &stderr},
			})
			if status != test.status || (err == nil) != (test.code == "") || err != nil &&
				fault.CodeOf(err) != test.code {
				t.Errorf("status %d, %v (%s); want %d and %q", status, err, fault.CodeOf(err), test.status, test.code)
			}
			if stdout.String() != "hello" || stderr.String() != "so it ends" {
				t.Errorf("stdout %q, stderr %q", &stdout, &stderr)
			}
		})
	}
}

// WebSockets are asked for first; a server or a proxy that does not know them
// is asked again the old way, for the same command.
func TestFallsBackToSPDY(t *testing.T) {
	server := &oldServer{ending: `{"status":"Success"}`}
	_, err := Run(t.Context(), clientOf(t, server),
		Request{
			Pod: "alice", Container: "main", Command: []string{"ls", "a b"},
			Session: exec.Session{Stdout: io.Discard},
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(server.asked, ", "); got != "GET websocket, POST spdy/3.1" {
		t.Errorf("asked %q", got)
	}
	const want = "/api/v1/namespaces/dev/pods/alice/exec?command=ls&command=a+b&container=main&stdout=true"
	for _, query := range server.queries {
		if query != want {
			t.Errorf("asked for %s, want %s", query, want)
		}
	}
}

// queue hands out some sizes, and then no more.
type queue []remotecommand.TerminalSize

func (q *queue) Next() *remotecommand.TerminalSize {
	if len(*q) == 0 {
		return nil
	}
	next := (*q)[0]
	*q = (*q)[1:]
	return &next
}

// A terminal is as large as the queue says, from the beginning on, and has one
// output: nothing is asked for stderr.
func TestATerminalHasASize(t *testing.T) {
	server := &oldServer{ending: `{"status":"Success"}`}
	var stdout, stderr bytes.Buffer
	_, err := Run(t.Context(), clientOf(t, server), Request{
		Pod: "alice", Command: []string{"sh"},
		Session: exec.Session{
			TTY: true, Stdout: &stdout, Stderr: &stderr,
			Sizes: &queue{{Width: 80, Height: 24}, {Width: 132, Height: 50}},
		},
	})
	if err != nil || stdout.String() != "80x24\n132x50\n" || stderr.Len() > 0 {
		t.Errorf("%v, stdout %q, stderr %q", err, &stdout, &stderr)
	}
}

// A refusal is a missing permission, in the API server's words.
func TestRefused(t *testing.T) {
	client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w,
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods `+
				`\"alice\" is forbidden: User \"bob\" cannot create resource \"pods/exec\""}`)
	}))
	_, err := Run(t.Context(), client,
		Request{Pod: "alice", Command: []string{"ls"}, Session: exec.Session{Stdout: io.Discard}})
	if fault.CodeOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), `pods "alice" is forbidden`) {
		t.Errorf("%v, want the words of the API server", err)
	}
}

// An interrupted exec reports the interruption, not what broke by it.
func TestInterrupted(t *testing.T) {
	server := &oldServer{running: make(chan struct{})}
	client := clientOf(t, server)
	why := errors.New("the user has had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-server.running
		cancel(why)
	}()
	if _, err := Run(ctx, client, Request{
		Pod: "alice", Command: []string{"sleep"},
		Session: exec.Session{Stdout: io.Discard},
	}); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
}

// What an error of client-go means.
func TestFailure(t *testing.T) {
	client := clientOf(t, http.NotFoundHandler())
	for text, c := range map[string]struct {
		err  error
		code fault.Code
		says string
	}{
		"websocket": {errors.New("error reading from error stream: next reader: websocket: close 1006 (abnormal " +
			"closure): unexpected EOF"), fault.Unavailable, "was lost"},
		"reset": {
			fmt.Errorf("read tcp: %w",
				&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}), fault.Unavailable,
			"was lost",
		},
		"end": {io.EOF, fault.Unavailable, "was lost"},
		"refused": {
			&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
			fault.Unavailable, "cannot be reached",
		},
		"kubelet": {
			errors.New("error dialing backend: dial tcp 10.0.0.1:10250: connect: connection refused"),
			fault.Unavailable, "the node of workspace alice",
		},
		"no login": {
			errors.New(`unable to upgrade connection: {"kind":"Status","status":"Failure","message":"Unauthorized",` +
				`"reason":"Unauthorized","code":401}`),
			fault.Unauthenticated, "does not accept your credentials",
		},
		"a proxy's login": {
			errors.New("unable to upgrade connection: HTTP 401 from a proxy"), fault.Unauthenticated,
			"does not accept your credentials",
		},
		"a login page": {errors.New("unable to upgrade connection: a proxy answered with a page in HTML, such as one " +
			"to log in, not the API server"), fault.Unavailable, "a page in HTML"},
		"it has ended": {
			errors.New("rpc error: code = NotFound desc = failed to exec in container: failed to load " +
				"task: no running task found: task 24e8 not found: not found"), fault.Failed,
			"workspace alice does not run any more, or not yet",
		},
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
		{io.EOF, "it may still be running there: `berth exec id/alice-2bd806c --namespace dev -- ps` " +
			"shows its processes"},
	} {
		if got := fault.From(failure(c.err, client, r)).Hint; got != c.hint {
			t.Errorf("%v: hint %q", c.err, got)
		}
	}
}

// What the container runtimes say of programs that they cannot start.
func TestNotStarted(t *testing.T) {
	for text, want := range map[string]string{
		`OCI runtime exec failed: exec failed: unable to start container process: exec: "nosuch": ` +
			`executable file not found in $PATH: unknown`: ReasonNotFound,
		`OCI runtime exec failed: exec failed: unable to start container process: exec: "/nosuch": stat /nosuch: no ` +
			`such file or directory`: ReasonNotFound,
		"exec failed: crun: executable file `nosuch` not found in $PATH: No such file or directory: OCI runtime " +
			"attempted to invoke a command": ReasonNotFound,
		`OCI runtime exec failed: exec failed: unable to start container process: exec: "/etc": ` +
			`permission denied: unknown`: ReasonNotExecutable,
		"crun: open `/etc/passwd`: Permission denied: OCI permission denied": ReasonNotExecutable,
		`OCI runtime exec failed: exec failed: unable to start container process: exec /tmp/x: exec format error: ` +
			`unknown, exec: "/tmp/x"`: ReasonNotExecutable,
		`OCI runtime exec failed: exec failed: unable to start container process: exec: "/etc": is a ` +
			`directory: unknown`: ReasonNotExecutable,
		`pods "x" is forbidden: permission denied`: "",
		"error dialing backend: i/o timeout":       "",
	} {
		err := notStarted(errors.New(text), "x", "workspace alice-1234567")
		if got := fault.ReasonOf(err); got != want || err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v, reason %q, want %q", text, err, got, want)
		}
	}
}

// What du prints is read as far as it is what du prints: the image brings it.
func TestUsage(t *testing.T) {
	for text, want := range map[string]map[string]int64{
		"":                          {},
		"4\t/home/dev\n12\t/data\n": {"/home/dev": 4096, "/data": 12288},
		"3\t/with space and\ttab\n": {"/with space and\ttab": 3072},
		"4\t/home/dev":              {"/home/dev": 4096},
		"-4\t/home\n1e3\t/x\n99999999999999999999\t/y\n4 /z\n4\t\n": {},
	} {
		if got := usage(text); !maps.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

// du ends by itself when nobody waits for it any more, and what it says until then is
// kept while it goes on.
func TestUsageHasAnEnd(t *testing.T) {
	asked := make(chan url.Values, 1)
	client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kubetest.Exec(w, r, func(streams map[string]httpstream.Stream) {
			asked <- r.URL.Query()
			for range time.Tick(time.Millisecond) {
				if _, err := io.WriteString(streams["stdout"], "4\t/data\n"); err != nil {
					return
				}
			}
		})
	}))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "alice", Namespace: "dev"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  kube.MainContainer(nil),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if used := Usage(ctx, client, pod, []string{"/data"}); used["/data"] != 4096 {
		t.Errorf("%v", used)
	}
	if got := strings.Join((<-asked)["command"], " "); got != "timeout 3 du -skx /data" {
		t.Errorf("asked for %s", got)
	}
}
