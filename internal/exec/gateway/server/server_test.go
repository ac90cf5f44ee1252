package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	clientexec "k8s.io/client-go/util/exec"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/waittest"
)

// What goes in and comes out is the same over both protocols, with the exit status.
func TestSession(t *testing.T) {
	r := start(t, echo, nil)
	sent := make([]byte, 1<<20)
	_, _ = rand.Read(sent)
	var stdout, stderr bytes.Buffer
	status, err := r.runner("alice")(t.Context(), []string{"ls", "a b"},
		exec.Session{Stdin: bytes.NewReader(sent), Stdout: &stdout, Stderr: &stderr})
	if err != nil || status != 3 || stderr.String() != "so it ends" || stdout.String() != "ls a b\n"+string(sent) {
		t.Errorf("status %d, %v, stderr %q, %d bytes", status, err, &stderr, stdout.Len())
	}

	at, _ := url.Parse(r.public.URL + gateway.WorkspacePath("dev", "alice"))
	at.RawQuery = gateway.Query(gateway.Destination{}, []string{"ls"},
		exec.Session{Stdin: &stdout, Stdout: &stdout, Stderr: &stderr}).
		Encode()
	spdy, err := remotecommand.NewSPDYExecutor(&rest.Config{
		BearerToken:     "alice",
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}, "POST", at)
	if err != nil {
		t.Fatal(err)
	}
	stdout.Reset()
	stderr.Reset()
	err = spdy.StreamWithContext(t.Context(),
		remotecommand.StreamOptions{Stdin: bytes.NewReader(sent), Stdout: &stdout, Stderr: &stderr})
	exit, _ := err.(clientexec.CodeExitError) //nolint:errorlint // client-go returns it as it is
	if exit.Code != 3 || stderr.String() != "so it ends" || stdout.String() != "ls\n"+string(sent) {
		t.Errorf("SPDY: %v, stderr %q, %d bytes", err, &stderr, stdout.Len())
	}
	waittest.Until(t, "both sessions have an audit line",
		func() bool { return strings.Count(r.log.String(), `"status":101`) == 2 })
	if text := r.log.String(); strings.Contains(text, "a b") || !strings.Contains(text, `"user":"alice"`) {
		t.Errorf("the log says what was typed, or not who did:\n%s", text)
	}
}

type oneSize struct{ given bool }

func (o *oneSize) Next() *remotecommand.TerminalSize {
	if o.given {
		return nil
	}
	o.given = true
	return &remotecommand.TerminalSize{Width: 132, Height: 50}
}

func TestTerminal(t *testing.T) {
	var stdout bytes.Buffer
	status, err := start(t, echo, nil).runner("alice")(t.Context(), []string{"sh"}, exec.Session{
		Stdin: strings.NewReader(""), Stdout: &stdout, TTY: true, Sizes: &oneSize{},
	})
	if err != nil || status != 3 || stdout.String() != "sh\n"+`{"Width":132,"Height":50}`+"\n" {
		t.Errorf("status %d, %v, %q", status, err, &stdout)
	}
}

// Each refusal has the right status, and opens nothing.
func TestRefusals(t *testing.T) {
	r := start(t, echo, nil)
	const alice = "/apis/berth.dev/v1/namespaces/dev/workspaces/alice/exec"
	for name, c := range map[string]struct {
		method, path, token, origin string
		plain                       bool
		status                      int
		says                        string
	}{
		"no token":      {path: alice + "?stdout=true", status: 401, says: "a token is required"},
		"a wrong token": {path: alice + "?stdout=true", token: "bad", status: 401, says: "the token is not valid"},
		"not allowed": {
			path: alice + "?stdout=true", token: "mallory", status: 403,
			says: "mallory may not create workspaces.berth.dev/exec alice in namespace dev",
		},
		"unknown, not allowed": {
			path: strings.Replace(alice, "alice", "nobody", 1) + "?stdout=true", token: "mallory",
			status: 403, says: "mallory may not",
		},
		"unknown": {
			path: strings.Replace(alice, "alice", "nobody", 1) + "?stdout=true", token: "alice",
			status: 404, says: "workspace nobody not found",
		},
		"not running": {
			path: strings.Replace(alice, "alice", "starting", 1) + "?stdout=true", token: "alice",
			status: 409, says: "cannot be entered",
		},
		"no upgrade": {
			path: alice + "?stdout=true", token: "alice", plain: true, status: 400,
			says: "an upgrade of the connection is required",
		},
		"a strange option": {path: alice + "?pod=x", token: "alice", status: 400, says: "unknown option"},
		"a strange method": {method: "DELETE", path: alice, token: "alice", status: 405, says: "use GET or POST"},
		"a path that climbs": {
			path:  "/apis/berth.dev/v1/namespaces/dev/workspaces/../../prod/workspaces/alice/exec",
			token: "alice", status: 404, says: "has this path",
		},
		"a slash in a name": {
			path: "/apis/berth.dev/v1/namespaces/dev/workspaces/a%2fexec/exec", token: "alice",
			status: 404, says: "has this path",
		},
		"a machine": {
			path: "/apis/compute.ironcore.dev/namespaces/dev/machines/vm/exec", token: "alice",
			status: 404, says: "has this path",
		},
		"a token's own path": {
			path: "/exec/0123456789abcdef0123456789abcdef", token: "alice", status: 404,
			says: "has this path",
		},
		"another origin": {
			path: alice + "?stdout=true", token: "alice", origin: "https://evil.example", status: 403,
			says: "another site",
		},
		"another port": {
			path: alice + "?stdout=true", token: "alice", origin: "https://x:8443", status: 403,
			says: "another site",
		},
		"no origin to name": {
			path: alice + "?stdout=true", token: "alice", origin: "null", status: 403,
			says: "another site",
		},
		"its own origin": {
			path: alice + "?pod=x", token: "alice", origin: "https://X", status: 400,
			says: "unknown option",
		},
		"the root": {path: "/", status: 404, says: "has this path"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := tls.Dial("tcp", r.public.Listener.Addr().String(),
				&tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if c.method == "" {
				c.method = "POST"
			}
			text := c.method + " " + c.path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			if !c.plain {
				text = strings.Replace(text, "close", "Upgrade", 1) + "Upgrade: SPDY/3.1\r\n"
			}
			if c.token != "" {
				text += "Authorization: Bearer " + c.token + "\r\n"
			}
			if c.origin != "" {
				text += "Origin: " + c.origin + "\r\n"
			}
			_, _ = io.WriteString(conn, text+"\r\n")
			_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, _ := io.ReadAll(response.Body)
			if response.StatusCode != c.status || !strings.Contains(string(body), c.says) {
				t.Errorf("the answer is %s, %q, want %d with %q", response.Status, body, c.status, c.says)
			}
		})
	}
	if open := len(r.sessions.list()) + len(r.tokens.waiting); open != 0 {
		t.Errorf("%d sessions are open", open)
	}
	if strings.Contains(r.log.String(), "bad") {
		t.Error("the log has a token")
	}
}

// The loopback listener knows tokens, and each of them once.
func TestStreamKnowsTokensOnly(t *testing.T) {
	r := start(t, echo, nil)
	token, _ := r.tokens.add(time.Now().Add(-tokenFor), &session{})
	for _, path := range []string{
		"/", "/exec/", "/exec/" + token, "/exec/x", "/exec/" + token + "/..",
		gateway.WorkspacePath("dev", "alice"),
	} {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base.String()+path, http.NoBody)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
}

// A session waits, and tells when it has begun.
type begun struct{ at chan struct{} }

func (b begun) Write(p []byte) (int, error) {
	close(b.at)
	return len(p), nil
}

// waiting is an open session, and what it ends with.
func (r *rig) waiting(ctx context.Context, user string) <-chan error {
	r.Helper()
	b, ended := begun{make(chan struct{})}, make(chan error, 1)
	run := r.runner(user)
	go func() {
		_, err := run(ctx, []string{"wait"}, exec.Session{Stdout: b})
		ended <- err
	}()
	select {
	case <-b.at:
	case err := <-ended:
		r.Fatalf("the session has ended: %v", err)
	}
	return ended
}

// A caller that is not permitted any more is cut off; the others stay.
func TestRevoked(t *testing.T) {
	r := start(t, echo, nil)
	bob, alice := r.waiting(t.Context(), "bob"), r.waiting(t.Context(), "alice")
	r.deny("bob")
	err := <-bob
	if fault.CodeOf(err) != fault.PermissionDenied ||
		!strings.Contains(err.Error(), "bob may not create workspaces.berth.dev/exec alice in namespace dev any more") {
		t.Errorf("bob is told %v (%s)", err, fault.CodeOf(err))
	}
	select {
	case err := <-alice:
		t.Errorf("alice is out, too: %v", err)
	default:
	}
}

// A client that is gone without a word is sent away, and nobody else.
func TestSilentClient(t *testing.T) {
	r := start(t, echo, nil)
	bob := r.waiting(t.Context(), "bob")
	r.gone.Store(true)
	if err := <-bob; fault.CodeOf(err) != fault.Unavailable ||
		!strings.Contains(err.Error(), "the client does not answer any more") {
		t.Errorf("bob is told %v", err)
	}
}

// What a gateway cannot reach is for its log; what a user can do something about is theirs.
func TestOfWorkspace(t *testing.T) {
	o := Object{Kind: Workspace, Namespace: "dev", Name: "alice"}
	for _, c := range []struct {
		err  error
		code fault.Code
		says string
	}{
		{
			fault.New(fault.Unavailable, "read tcp 10.0.0.1:2->10.0.0.3:4: timeout"), fault.Unavailable,
			"the connection to workspace alice was lost",
		},
		{errors.New("dial tcp 10.0.0.1:2: refused"), fault.Internal, "the log of the gateway says why"},
		{
			fault.New(fault.PermissionDenied, "system:serviceaccount:a:b may not"), fault.Internal,
			"the log of the gateway says why",
		},
		{
			fault.New(fault.InvalidArgument, "no-such-program not found"), fault.InvalidArgument,
			"no-such-program not found",
		},
	} {
		var log strings.Builder
		err := ofWorkspace(o, c.err, slog.New(slog.NewJSONHandler(&log, nil)))
		if fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) ||
			strings.Contains(err.Error(), "10.0.0") {
			t.Errorf("%v became %v", c.err, err)
		}
		if logged := strings.Contains(log.String(),
			"has not run a command to its end"); logged != (c.code != fault.InvalidArgument) {
			t.Errorf("%v is logged: %s", c.err, log.String())
		}
	}
}

// The audit line says which object it was, also of a machine, and why a session was ended.
func TestAuditLines(t *testing.T) {
	r := start(t, echo, func(s *Server, _ *serve.Limits) { s.Backends[Machine], s.Pool = echo, "pool" })
	bob := r.waiting(t.Context(), "bob")
	r.deny("bob")
	<-bob //nolint:errcheck // that it has ended is enough
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost,
		r.public.URL+machine.PoolletPath("dev", "vm"), http.NoBody)
	request.Header.Set("Authorization", "Bearer mallory")
	response, err := r.public.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	for _, want := range []string{
		`"user":"bob","access":"create workspaces.berth.dev/exec alice in namespace ` +
			`dev","object":"workspace/dev/alice","ended":"bob may not create workspaces.berth.dev/exec alice in ` +
			`namespace dev any more","method":`,
		`"user":"mallory","access":"create machinepools.compute.ironcore.dev/proxy ` +
			`pool","object":"machine/dev/vm","method":`,
	} {
		waittest.Until(t, "a line with "+want, func() bool { return strings.Contains(r.log.String(), want) })
	}
}

// A gateway that stops lets sessions end for some time, and then says why they end.
func TestStop(t *testing.T) {
	r := start(t, echo, nil)
	alice := r.waiting(t.Context(), "alice")
	r.stop()
	err := <-alice
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "the gateway is stopping") {
		t.Errorf("alice is told %v (%s)", err, fault.CodeOf(err))
	}
	if _, err := r.runner("alice")(t.Context(), []string{"ls"},
		exec.Session{Stdout: io.Discard}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a new session: %v", err)
	}
}

// As many requests wait to be connected as there may be, and no more.
func TestWaitingIsBounded(t *testing.T) {
	r := start(t, echo, nil)
	for range maxWaiting {
		if _, wait := r.tokens.add(time.Now(), &session{}); wait != 0 {
			t.Fatalf("it waits for %s", wait)
		}
	}
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.public.URL+
		gateway.WorkspacePath("dev", "alice")+"?stdout=true", http.NoBody)
	request.Header = http.Header{"Authorization": {"Bearer alice"}, "Connection": {"Upgrade"}, "Upgrade": {"SPDY/3.1"}}
	response, err := r.public.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	wait, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if response.StatusCode != http.StatusTooManyRequests || err != nil || wait < 1 || wait > 60 {
		t.Errorf("one too many is answered with %s, Retry-After %q", response.Status,
			response.Header.Get("Retry-After"))
	}
	if open := len(r.sessions.list()); open != 0 {
		t.Errorf("%d sessions are open", open)
	}
}

// A caller that asks without end is told to wait: with a good token by their name. Made-up ones wait for
// their turn to be looked at.
func TestFloods(t *testing.T) {
	r := start(t, echo, func(_ *Server, limits *serve.Limits) { limits.Reviews, limits.Rate, limits.Burst = 100, 1, 5 })
	ask := func(token string) (status int, retryAfter string) {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.public.URL+
			gateway.WorkspacePath("dev", "alice")+"?stdout=true", http.NoBody)
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := r.public.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode, response.Header.Get("Retry-After")
	}
	for i := range 30 {
		if status, _ := ask("mallory" + strconv.Itoa(i)); status == http.StatusTooManyRequests {
			t.Error("one made-up token after the other is told to wait")
		}
	}
	answers := map[int]int{}
	for range 30 {
		status, retryAfter := ask("mallory0")
		answers[status]++
		if status == http.StatusTooManyRequests && retryAfter == "" {
			t.Error("nothing says when to try again")
		}
	}
	if answers[http.StatusTooManyRequests] < 10 || len(answers) != 2 {
		t.Errorf("%v", answers)
	}
}

// One user has so many sessions, and no more.
func TestLimit(t *testing.T) {
	r := start(t, echo, func(_ *Server, limits *serve.Limits) { limits.OpenPerCaller = 2 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.waiting(ctx, "alice")
	r.waiting(ctx, "alice")
	_, err := r.runner("alice")(t.Context(), []string{"ls"}, exec.Session{Stdout: io.Discard})
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "too many requests") {
		t.Errorf("the third session: %v", err)
	}
	if _, err := r.runner("bob")(t.Context(), []string{"ls"}, exec.Session{Stdout: io.Discard}); err != nil {
		t.Errorf("the session of another: %v", err)
	}
}

// All users together have so many sessions, and no more.
func TestMaxSessions(t *testing.T) {
	r := start(t, echo, func(s *Server, _ *serve.Limits) { s.MaxSessions = 2 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	alice := r.waiting(ctx, "alice")
	r.waiting(t.Context(), "bob")
	_, err := r.runner("carol")(t.Context(), []string{"ls"}, exec.Session{Stdout: io.Discard})
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "too many sessions are open") {
		t.Errorf("the third session: %v", err)
	}
	cancel()
	<-alice //nolint:errcheck // that it has ended is enough
	waittest.Until(t, "one has ended", func() bool { return len(r.sessions.list()) == 1 })
	if _, err := r.runner("carol")(t.Context(), []string{"ls"}, exec.Session{Stdout: io.Discard}); err != nil {
		t.Errorf("when there is room: %v", err)
	}
}

// Whatever clients do, nothing is left of their sessions.
func TestNothingIsLeft(t *testing.T) {
	r := start(t, echo, nil)
	ctx, cancel := context.WithCancel(t.Context())
	for range 10 {
		r.waiting(ctx, "alice")
	}
	var raw []net.Conn
	for range 10 { // they upgrade, and then say nothing, or nonsense
		conn, err := tls.Dial("tcp", r.public.Listener.Addr().String(),
			&tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, conn)
		_, _ = io.WriteString(conn, "POST /apis/berth.dev/v1/namespaces/dev/workspaces/alice/exec?stdout=true "+
			"HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nAuthorization: Bearer alice\r\n"+
			"X-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n")
	}
	waittest.Until(t, "goroutines of sessions are seen", func() bool { return ofSessions() > 0 })
	waittest.Until(t, "all are open", func() bool { return len(r.sessions.list()) == 20 })
	_, _ = io.WriteString(raw[0], strings.Repeat("nonsense", 1000))
	raw[1].Close()
	cancel()
	waittest.Until(t, "all sessions have ended", func() bool { return len(r.sessions.list()) == 0 })
	for _, conn := range raw {
		conn.Close()
	}
	waittest.Until(t, "all goroutines of sessions have ended", func() bool { return ofSessions() == 0 })
	if len(r.tokens.waiting) != 0 {
		t.Errorf("%d tokens are left", len(r.tokens.waiting))
	}
}

// ofSessions is how many goroutines there are of the gateway's sessions. Those of the clients
// are in this process, too.
func ofSessions() (n int) {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, of := range []string{
		"server.(*Server).stream(", "server.(*Server).connect(", "wsstream.(*Conn).handle(",
		"spdystream.(*Connection)", "server.(*buffers).copy(",
	} {
		n += strings.Count(string(stacks), of)
	}
	return n
}
