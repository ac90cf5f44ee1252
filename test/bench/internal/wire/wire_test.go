package wire

import (
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"testing"
	"time"
)

// echo sends back what it gets, until its end.
func echo(t *testing.T) *Wire {
	t.Helper()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	w, err := Start(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// send sends bytes through a wire and gets them back, and says how long that took.
func send(t *testing.T, w *Wire, size int) time.Duration {
	t.Helper()
	sent := make([]byte, size)
	_, _ = rand.Read(sent)
	begun := time.Now()
	conn, err := net.Dial("tcp", w.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		_, _ = conn.Write(sent)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(conn)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d bytes came back of %d: %v", len(got), size, err)
	}
	return time.Since(begun)
}

func TestBytesAreTheSame(t *testing.T) { send(t, echo(t), 4<<20) }

func TestRate(t *testing.T) {
	w := echo(t)
	w.Set(10<<20, 0)
	if took := send(t, w, 2<<20); took < 190*time.Millisecond {
		t.Errorf("2 MiB at 10 MiB/s took %s", took)
	}
}

// A connection takes a round trip, and what is asked for another one.
func TestRoundTrip(t *testing.T) {
	w := echo(t)
	w.Set(0, 30*time.Millisecond)
	if took := send(t, w, 1); took < 60*time.Millisecond {
		t.Errorf("a byte there and back took %s", took)
	}
}
