//go:build unix

package sshd_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/sshd"
)

// silent is a connection on which nothing comes, and that takes nothing, until it is closed.
type silent struct {
	once   sync.Once
	closed chan struct{}
}

func newSilent() *silent { return &silent{closed: make(chan struct{})} }

func (s *silent) Read([]byte) (int, error)  { <-s.closed; return 0, io.EOF }
func (s *silent) Write([]byte) (int, error) { <-s.closed; return 0, io.ErrClosedPipe }
func (s *silent) Close() error              { s.once.Do(func() { close(s.closed) }); return nil }

// A client that closes a channel closes the connection behind it, whatever that one does: it may read nothing and send
// nothing.
func TestClosedChannel(t *testing.T) {
	far := newSilent()
	p := here(t.TempDir())
	p.Dial = func(context.Context, uint16) (io.ReadWriteCloser, error) { return far, nil }
	client := connect(t, func(context.Context, string, func(string)) (sshd.Place, error) { return p, nil })
	channel, requests, err := client.OpenChannel("direct-tcpip", tcp("localhost", 80))
	if err != nil {
		t.Fatal(err)
	}
	go ssh.DiscardRequests(requests)
	_, _ = channel.Write([]byte("is not taken"))
	_ = channel.Close()
	<-far.closed
}

// However a connection ends, what runs for it ends as well, and the server with it: before the first byte, within the
// handshake, and with sessions, files and ports that are open.
func TestEndOfTheConnection(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, mine net.Conn, key ssh.PublicKey){
		"before the first byte": func(*testing.T, net.Conn, ssh.PublicKey) {},
		"within the handshake": func(_ *testing.T, mine net.Conn, _ ssh.PublicKey) {
			_, _ = mine.Write([]byte("SSH-2.0-x\r\n"))
		},
		"with channels": func(t *testing.T, mine net.Conn, key ssh.PublicKey) {
			t.Helper()
			conn, channels, requests, err := ssh.NewClientConn(mine, "",
				&ssh.ClientConfig{HostKeyCallback: ssh.FixedHostKey(key)})
			if err != nil {
				t.Fatal(err)
			}
			client := ssh.NewClient(conn, channels, requests)
			for _, start := range []func(*ssh.Session) error{
				func(s *ssh.Session) error { return s.Start("wait") },
				func(s *ssh.Session) error { return s.RequestSubsystem("sftp") },
			} {
				s, err := client.NewSession()
				if err == nil {
					err = start(s)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := client.OpenChannel("direct-tcpip", tcp("localhost", 80)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			mine, theirs := pair(t)
			p := here(t.TempDir())
			far := newSilent()
			p.Dial = func(context.Context, uint16) (io.ReadWriteCloser, error) { return far, nil }
			p.Run = func(ctx context.Context, _ sshd.Command, _ exec.Session) (int, error) {
				<-ctx.Done()
				return 0, context.Cause(ctx)
			}
			server := sshd.Server{
				Key: key(t), Version: "1", Find: func(context.Context, string, func(string)) (sshd.Place,
					error,
				) {
					return p, nil
				},
				Explain: func(err error) (string, int) { return err.Error(), 125 },
			}
			served := make(chan error, 1)
			go func() { served <- server.Serve(t.Context(), theirs) }()
			begin(t, mine, server.Key.PublicKey())
			_ = mine.Close()
			if err := <-served; err != nil {
				t.Log(err)
			}
			if name == "with channels" {
				<-far.closed
			}
		})
	}
}

// A thousand connections with ports, one after the other, leave nothing behind.
func TestManyPorts(t *testing.T) {
	p := here(t.TempDir())
	p.Dial = func(context.Context, uint16) (io.ReadWriteCloser, error) {
		near, far := net.Pipe()
		go func() {
			_, _ = io.Copy(far, far)
			_ = far.Close()
		}()
		return near, nil
	}
	client := connect(t, func(context.Context, string, func(string)) (sshd.Place, error) { return p, nil })
	before := runtime.NumGoroutine()
	for i := range 1000 {
		channel, requests, err := client.OpenChannel("direct-tcpip", tcp("localhost", 80))
		if err != nil {
			t.Fatal(i, err)
		}
		go ssh.DiscardRequests(requests)
		text := make([]byte, 4)
		_, _ = channel.Write([]byte("ping"))
		if _, err := io.ReadFull(channel, text); err != nil || string(text) != "ping" {
			t.Fatalf("%d: %q, %v", i, text, err)
		}
		_ = channel.Close()
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+5; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, after %d", runtime.NumGoroutine(), before)
		}
	}
}

// Of many sessions at once, each gets its own output; no more than 32 of them start at the same time.
func TestManySessions(t *testing.T) {
	p := here(t.TempDir())
	var mu sync.Mutex
	starting, most := 0, 0
	p.Run = func(_ context.Context, c sshd.Command, s exec.Session) (int, error) {
		mu.Lock()
		starting++
		most = max(most, starting)
		mu.Unlock()
		runtime.Gosched()
		mu.Lock()
		starting--
		mu.Unlock()
		c.Started(1)
		_, err := io.WriteString(s.Stdout, c.Line)
		return 0, err
	}
	client := connect(t, func(context.Context, string, func(string)) (sshd.Place, error) { return p, nil })
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			line := strings.Repeat("x", i+1)
			s, err := client.NewSession()
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := s.Output(line); string(out) != line || err != nil {
				t.Errorf("%d: %q, %v", i, out, err)
			}
		})
	}
	group.Wait()
	if most > 32 {
		t.Errorf("%d start at once", most)
	}
}

// A client that does not read keeps no command from ending, and gets all that it has written, to the last byte: what is
// in memory, and what is not.
func TestPause(t *testing.T) {
	ended := make(chan struct{}, 1)
	want := make([]byte, 8<<20)
	_, _ = rand.Read(want)
	p := here(t.TempDir())
	p.Run = func(_ context.Context, c sshd.Command, s exec.Session) (int, error) {
		defer func() { ended <- struct{}{} }()
		to := map[string]io.Writer{"output": s.Stdout, "errors": s.Stderr}[c.Line]
		_, err := io.Copy(to, bytes.NewReader(want))
		return 3, err
	}
	client := connect(t, func(context.Context, string, func(string)) (sshd.Place, error) { return p, nil })
	for _, line := range []string{"output", "errors", "output"} {
		s, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		pipe := map[string]func() (io.Reader, error){"output": s.StdoutPipe, "errors": s.StderrPipe}[line]
		out, err := pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(line); err != nil {
			t.Fatal(err)
		}
		<-ended // before anything is read
		if got, err := io.ReadAll(out); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if exit, is := errors.AsType[*ssh.ExitError](s.Wait()); !is || exit.ExitStatus() != 3 {
			t.Error("another status")
		}
	}
}

// A reason that has several lines is one line for a client, which shows no more.
func TestReasonIsOneLine(t *testing.T) {
	client := connect(t, func(context.Context, string, func(string)) (sshd.Place, error) {
		return sshd.Place{}, errors.New("it is stopped\nhint: start it")
	})
	_, _, err := client.OpenChannel("direct-tcpip", tcp("localhost", 80))
	if err == nil || !strings.Contains(err.Error(), "it is stopped, hint: start it") {
		t.Error(err)
	}
}

// refused is a connection with a port on which nothing listens: as Kubernetes forwards ports, that shows when it is
// read.
type refused struct{ io.ReadWriteCloser }

func (refused) Read([]byte) (int, error) { return 0, errors.New("connect: connection refused") }

func (refused) Close() error { return nil }

// A port on which nothing listens is said to the user, before its channel, which is open then, ends. One that just ends
// is not.
func TestPortOfNobody(t *testing.T) {
	for name, c := range map[string]struct {
		there io.ReadWriteCloser
		want  []string
	}{
		"nothing listens": {refused{}, []string{"localhost:80: connect: connection refused"}},
		"it ends":         {ended{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := make(chan string, 10)
			client := connectAs(t, func(context.Context, string, func(string)) (sshd.Place, error) {
				return sshd.Place{Dial: func(context.Context, uint16) (io.ReadWriteCloser, error) {
					return c.there, nil
				}}, nil
			}, func(text string) { told <- text })
			conn, err := client.Dial("tcp", "localhost:80")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(conn); err != nil {
				t.Error(err)
			}
			if len(told) != len(c.want) { // a client may end with the channel, and the server with the client
				t.Fatalf("%d lines before the channel ended, want %d", len(told), len(c.want))
			}
			for _, want := range c.want {
				if got := <-told; got != want {
					t.Errorf("%q", got)
				}
			}
			_, _ = client.Dial("tcp", "localhost:80") // what was to be said of the first is said
			if len(c.want) == 0 && len(told) > 0 {
				t.Errorf("%q", <-told)
			}
		})
	}
}

// ended is a connection that ends at once.
type ended struct{ io.ReadWriteCloser }

func (ended) Read([]byte) (int, error) { return 0, io.EOF }

func (ended) Write(p []byte) (int, error) { return len(p), nil }

func (ended) Close() error { return nil }
