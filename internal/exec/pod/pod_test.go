package pod

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

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
		"no program": {`{"status":"Failure","reason":"InternalError","message":"exec: \"nosuch\": executable file not found in $PATH"}`, 0, fault.InvalidArgument},
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
			if status != test.status || (err == nil) != (test.code == "") || err != nil && fault.CodeOf(err) != test.code {
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
		Request{Pod: "alice", Container: "main", Command: []string{"ls", "a b"}, Session: exec.Session{Stdout: io.Discard}})
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
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods \"alice\" is forbidden: User \"bob\" cannot create resource \"pods/exec\""}`)
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
