package serve

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/waittest"
)

// What the kernel tells of one that only does not read, and of one that is gone.
func TestAcknowledged(t *testing.T) {
	for name, c := range map[string]struct{ gone, missing bool }{
		"does not read": {gone: false, missing: false},
		"is gone":       {gone: true, missing: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near, far := connected(t)
			if c.gone {
				drop(t, far)
			}
			blocked := make(chan struct{})
			go func() {
				defer close(blocked)
				for err := error(nil); err == nil; {
					_, err = near.Write(make([]byte, 64<<10))
				}
			}()
			t.Cleanup(func() { _ = near.Close(); <-blocked })
			// One that does not read acknowledges what fits; then it is asked again and again.
			waittest.Until(t, "it is known", func() bool {
				last, known := acknowledged(near)
				return known && last.missing == c.missing && last.ago > 300*time.Millisecond
			})
			if Silent(tls.Server(near, nil)) {
				t.Error("it is silent after less than a second")
			}
		})
	}
	near, _ := connected(t)
	if last, known := acknowledged(near); !known || last.missing {
		t.Errorf("a connection on which nothing was sent: %+v, %t", last, known)
	}
	_ = near.Close()
	if _, known := acknowledged(near); known || Silent(near) {
		t.Error("something is known of a closed connection")
	}
}

func connected(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if far, err = net.DialTCP("tcp", nil, listener.Addr().(*net.TCPAddr)); err != nil {
		t.Fatal(err)
	}
	if near, err = listener.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// drop lets nothing that comes get to a connection.
func drop(t *testing.T, conn *net.TCPConn) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err == nil {
		nothing := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}
		controlled := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
				&unix.SockFprog{Len: 1, Filter: &nothing[0]})
		})
		if controlled != nil {
			err = controlled
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
