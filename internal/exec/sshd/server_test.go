//go:build unix

package sshd_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/remotefs"
	"github.com/berthdev/berth/internal/exec/sshd"
)

// here is a place whose commands run on this machine.
func here(home string) sshd.Place {
	run := func(ctx context.Context, command []string, env []string, s exec.Session) (int, error) {
		cmd := osexec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // a test's own
		cmd.Env, cmd.Dir = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, env...), home
		cmd.Stdout, cmd.Stderr = s.Stdout, s.Stderr
		if s.Stdin != nil { // Wait must not wait for the input
			in, err := cmd.StdinPipe()
			if err != nil {
				return 0, err
			}
			go func() {
				_, _ = io.Copy(in, s.Stdin)
				_ = in.Close()
			}()
		}
		cmd.WaitDelay = time.Second
		return statusOf(ctx, cmd)
	}
	return sshd.Place{
		Run: func(ctx context.Context, c sshd.Command, s exec.Session) (int, error) {
			if c.Line == "fail" {
				return 0, errors.New("the workspace is stopped")
			}
			return run(ctx, []string{"/bin/sh", "-c", c.Line}, c.Env, s)
		},
		Files: func(ctx context.Context, stream io.ReadWriteCloser) error {
			return remotefs.Serve(ctx, func(ctx context.Context, command []string, s exec.Session) (int, error) {
				return run(ctx, command, nil, s)
			}, stream)
		},
		Signal: func(context.Context, int, string) error { return nil },
		Dial: func(ctx context.Context, port uint16) (io.ReadWriteCloser, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
			return conn, err
		},
		Relay: func(context.Context, string, bool) (io.ReadWriteCloser, error) {
			return nil, errors.New("prohibited: the image has no nc")
		},
		Names: []string{"alice-1"},
	}
}

func statusOf(ctx context.Context, cmd *osexec.Cmd) (int, error) {
	err := cmd.Start()
	if err == nil {
		err = cmd.Wait()
	}
	if exit, is := errors.AsType[*osexec.ExitError](err); is && ctx.Err() == nil {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func key(t *testing.T) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// pair is a connection, and its other end. Both ends begin to write, so that it needs a buffer.
func pair(t *testing.T) (mine, theirs net.Conn) {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var dialer net.Dialer
	if mine, err = dialer.DialContext(t.Context(), "tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if theirs, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	return mine, theirs
}

// connect serves a place, and is its client.
func connect(t *testing.T, find func(context.Context, string, func(string)) (sshd.Place, error)) *ssh.Client {
	t.Helper()
	return connectAs(t, find, nil)
}

// connectAs is connect, by a user who is told what no channel can say.
func connectAs(
	t *testing.T, find func(context.Context, string, func(string)) (sshd.Place, error), told func(string),
) *ssh.Client {
	t.Helper()
	mine, theirs := pair(t)
	server := sshd.Server{
		Key: key(t), Version: "1", Find: find, Say: told,
		Explain: func(err error) (string, int) { return "berth: " + err.Error() + "\n", 125 },
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(t.Context(), theirs) }()
	conn, channels, requests, err := ssh.NewClientConn(mine, "", &ssh.ClientConfig{
		User: "berth", HostKeyCallback: ssh.FixedHostKey(server.Key.PublicKey()),
	})
	if err != nil {
		t.Fatal(err)
	}
	client := ssh.NewClient(conn, channels, requests)
	t.Cleanup(func() {
		_ = client.Close()
		if err := <-served; err != nil {
			t.Log(err)
		}
	})
	return client
}

func local(t *testing.T) *ssh.Client {
	t.Helper()
	home := t.TempDir()
	return connect(t, func(context.Context, string, func(string)) (sshd.Place, error) { return here(home), nil })
}

func TestSessions(t *testing.T) {
	client := local(t)
	for name, test := range map[string]struct {
		line, in, out, stderr string
		env                   map[string]string
		status                int
	}{
		"output":           {line: "echo hi", out: "hi\n"},
		"status":           {line: "exit 7", status: 7},
		"a high status":    {line: "exit 200", status: 200},
		"both outputs":     {line: "echo out; echo err >&2", out: "out\n", stderr: "err\n"},
		"input to its end": {line: "cat; echo end", in: "a\x00\xffb", out: "a\x00\xffbend\n"},
		"a variable":       {line: "echo $LANG", env: map[string]string{"LANG": "C"}, out: "C\n"},
		"what is not run":  {line: "fail", stderr: "berth: the workspace is stopped\n", status: 125},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := client.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			for name, value := range test.env {
				if err := s.Setenv(name, value); err != nil {
					t.Error(err)
				}
			}
			var out, stderr bytes.Buffer
			s.Stdin, s.Stdout, s.Stderr = strings.NewReader(test.in), &out, &stderr
			err = s.Run(test.line)
			status := 0
			if exit, is := errors.AsType[*ssh.ExitError](err); is {
				status = exit.ExitStatus()
			} else if err != nil {
				t.Error(err)
			}
			if out.String() != test.out || stderr.String() != test.stderr || status != test.status {
				t.Errorf("%q, %q, %d", &out, &stderr, status)
			}
		})
	}
}

// What would change which programs run, or is no variable, is refused.
func TestEnvironment(t *testing.T) {
	s, err := local(t).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, name := range []string{"PATH", "LD_PRELOAD", "BASH_ENV", "HOME", "1A", "a b", "A=B", ""} {
		if s.Setenv(name, "x") == nil {
			t.Errorf("%q is set", name)
		}
	}
	for i := range 64 {
		if err := s.Setenv(fmt.Sprintf("A%d", i), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if s.Setenv("B", "x") == nil {
		t.Error("a 65th is set")
	}
}

func TestRefusals(t *testing.T) {
	client := local(t)
	for name, test := range map[string]struct {
		kind string
		data []byte
		says string
	}{
		"through the place": {"direct-tcpip", tcp("example.com", 80), "the image has no nc"},
		"no port":           {"direct-tcpip", tcp("localhost", 0), "names no port"},
		"garbage":           {"direct-tcpip", []byte("x"), "names no port"},
		"another kind":      {"x11", nil, "does not serve channels of type x11"},
		"nothing listens":   {"direct-tcpip", tcp("127.0.0.1", 1), "refused"},
	} {
		_, _, err := client.OpenChannel(test.kind, test.data)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ok, _, err := client.SendRequest("tcpip-forward", true, nil); ok || err != nil {
		t.Errorf("-R: %t, %v", ok, err)
	}
	if ok, _, err := client.SendRequest("keepalive@openssh.com", true, nil); !ok || err != nil {
		t.Errorf("a sign of life: %t, %v", ok, err)
	}
	s, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{"auth-agent-req@openssh.com", "x11-req", "subsystem"} {
		if ok, err := s.SendRequest(request, true, ssh.Marshal(struct{ Name string }{"other"})); ok || err != nil {
			t.Errorf("%s: %t, %v", request, ok, err)
		}
	}
}

func tcp(host string, port uint32) []byte {
	return ssh.Marshal(struct {
		Host       string
		Port       uint32
		OriginHost string
		OriginPort uint32
	}{host, port, "127.0.0.1", 1})
}

// A connection with a port carries all bytes, and the end of each way.
func TestPorts(t *testing.T) {
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				text, _ := io.ReadAll(conn) // to the end of what is sent
				_, _ = conn.Write(append([]byte("got "), text...))
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	client := local(t)
	want := bytes.Repeat([]byte("0123456789"), 100_000)
	var group sync.WaitGroup
	for _, host := range []string{"127.0.0.1", "localhost", "::1", "alice-1"} {
		group.Go(func() {
			number, _ := strconv.ParseUint(port, 10, 16)
			address := tcp(host, uint32(number)) //nolint:gosec // 16 bits
			channel, requests, err := client.OpenChannel("direct-tcpip", address)
			if err != nil {
				t.Error(host, err)
				return
			}
			go ssh.DiscardRequests(requests)
			_, _ = channel.Write(want)
			_ = channel.CloseWrite()
			if got, err := io.ReadAll(channel); err != nil || !bytes.Equal(got, append([]byte("got "), want...)) {
				t.Errorf("%s: %d bytes, %v", host, len(got), err)
			}
		})
	}
	group.Wait()
}

func TestFiles(t *testing.T) {
	c, err := sftp.NewClient(local(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.Mkdir("dir"); err != nil {
		t.Error(err)
	}
	if i, err := c.Stat("dir"); err != nil || !i.IsDir() {
		t.Errorf("%v, %v", i, err)
	}
}

// A client that closes a session ends what runs there; the connection goes on.
func TestClosedSession(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	p := here(t.TempDir())
	run := p.Run
	p.Run = func(ctx context.Context, c sshd.Command, s exec.Session) (int, error) {
		if c.Line != "wait" {
			return run(ctx, c, s)
		}
		close(begun)
		<-ctx.Done()
		close(ended)
		return 0, ctx.Err()
	}
	client := connect(t, func(context.Context, string, func(string)) (sshd.Place, error) { return p, nil })
	s, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("wait"); err != nil {
		t.Fatal(err)
	}
	<-begun // a session that is closed before runs nothing
	_ = s.Close()
	<-ended
	next, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := next.Output("echo on"); string(out) != "on\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// Signals go to the process of a session: those that come before it is known wait for it.
func TestSignals(t *testing.T) {
	sent := make(chan string, 3)
	start := make(chan struct{})
	p := here(t.TempDir())
	p.Signal = func(_ context.Context, pid int, signal string) error {
		sent <- fmt.Sprint(pid, " ", signal)
		return nil
	}
	p.Run = func(ctx context.Context, c sshd.Command, _ exec.Session) (int, error) {
		<-start
		c.Started(42)
		<-ctx.Done()
		return 0, nil
	}
	client := connect(t, func(context.Context, string, func(string)) (sshd.Place, error) { return p, nil })
	s, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("x"); err != nil {
		t.Fatal(err)
	}
	_ = s.Signal(ssh.SIGTERM)
	_, _ = s.SendRequest("signal", true, ssh.Marshal(struct{ Name string }{"; reboot"})) // answered after the first
	close(start)
	if got := <-sent; got != "42 TERM" {
		t.Error(got)
	}
	_ = s.Signal(ssh.SIGINT)
	if got := <-sent; got != "42 INT" {
		t.Error(got)
	}
	_ = s.Close()
}

// A hundred channels are served at once, and one more is refused.
func TestLimit(t *testing.T) {
	p := here(t.TempDir())
	p.Run = func(ctx context.Context, _ sshd.Command, _ exec.Session) (int, error) {
		<-ctx.Done()
		return 0, nil
	}
	client := connect(t, func(context.Context, string, func(string)) (sshd.Place, error) { return p, nil })
	for i := range 100 {
		s, err := client.NewSession()
		if err != nil {
			t.Fatal(i, err)
		}
		if err := s.Start("x"); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := client.NewSession(); err == nil || !strings.Contains(err.Error(), "too many channels") {
		t.Error(err)
	}
}

// A session whose workspace is not there says so on its own channel, and the next one looks again.
func TestFoundLater(t *testing.T) {
	found := false
	p := here(t.TempDir())
	client := connect(t, func(_ context.Context, _ string, say func(string)) (sshd.Place, error) {
		if !found {
			return sshd.Place{}, errors.New("workspace alice not found")
		}
		say("berth: it starts\n")
		return p, nil
	})
	for range 2 {
		s, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		var told bytes.Buffer
		s.Stderr = &told
		out, err := s.Output("echo here")
		wantOut, wantTold := "here\n", "berth: it starts\n"
		if !found {
			wantOut, wantTold = "", "berth: workspace alice not found\n"
		}
		if string(out) != wantOut || told.String() != wantTold || (err == nil) != found {
			t.Errorf("%q, %q, %v", out, &told, err)
		}
		found = true
	}
}
