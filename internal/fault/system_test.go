package fault_test

import (
	"errors"
	"net"
	"os"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// What this system says is known for what it is, and for nothing else.
func TestErrorsOfTheSystem(t *testing.T) {
	var listen net.ListenConfig
	taken, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := taken.Addr().String()
	_, inUse := listen.Listen(t.Context(), "tcp", address)
	_ = taken.Close()
	_, refused := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	for name, c := range map[string]struct {
		err error
		is  func(error) bool
	}{
		"broken pipe": {brokenPipe(t), fault.IsBrokenPipe}, "in use": {inUse, fault.IsAddressInUse},
		"refused": {refused, fault.IsConnectionRefused}, "reset": {reset(t), fault.IsConnectionReset},
	} {
		if !c.is(c.err) || c.is(nil) || c.is(os.ErrNotExist) || c.is(errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

// brokenPipe is the error of writing to a pipe that nothing reads.
func brokenPipe(t *testing.T) error {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	defer w.Close()
	_, err = w.WriteString("x")
	return err
}

// reset is the error of reading from a connection that the other end has ended at once.
func reset(t *testing.T) error {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if tcp, ok := other.(*net.TCPConn); !ok || tcp.SetLinger(0) != nil || tcp.Close() != nil {
		t.Fatal("the connection cannot be reset")
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}
