//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// slowRelay passes connections on to a server as the network of a bad client does: slowly, not
// for a while, or not any more, without a word to anybody.
type slowRelay struct {
	*world
	address, to string

	mu      sync.Mutex
	pace    int // bytes a second to the clients; 0 for none, atSpeed for all
	changed chan struct{}
	held    bool // what clients send goes nowhere
	far     []*net.TCPConn
}

const atSpeed = -1

func (w *world) newSlowRelay(to string) *slowRelay {
	w.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	r := &slowRelay{world: w, address: listener.Addr().String(), to: to, pace: atSpeed, changed: make(chan struct{})}
	w.Cleanup(func() {
		_ = listener.Close()
		for _, conn := range r.lines() {
			_ = conn.Close()
		}
	})
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go r.pass(near)
		}
	}()
	return r
}

// pass has a small buffer towards the server, so that what a client does not read waits there.
func (r *slowRelay) pass(near net.Conn) {
	dialer := net.Dialer{KeepAlive: -1, Control: func(_, _ string, raw syscall.RawConn) (err error) {
		failed := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF,
				64<<10)
		})
		if failed != nil {
			return failed
		}
		return err
	}}
	conn, err := dialer.DialContext(context.Background(), "tcp", r.to)
	if err != nil {
		_ = near.Close()
		return
	}
	far := conn.(*net.TCPConn)
	r.mu.Lock()
	r.far = append(r.far, far)
	r.mu.Unlock()
	go r.send(far, near)
	buffer := make([]byte, 32<<10)
	for {
		n, err := far.Read(r.next(buffer))
		_, _ = near.Write(buffer[:n])
		if err != nil {
			_ = near.Close()
			return
		}
	}
}

// send passes on what a client sends, until it is held.
func (r *slowRelay) send(far, near net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := near.Read(buffer)
		r.mu.Lock()
		held := r.held
		r.mu.Unlock()
		switch {
		case held && err == nil:
			continue
		case held:
			return
		}
		_, _ = far.Write(buffer[:n])
		if err != nil {
			_ = far.Close()
			return
		}
	}
}

// next is what may be read next, when something may.
func (r *slowRelay) next(buffer []byte) []byte {
	for {
		r.mu.Lock()
		pace, changed := r.pace, r.changed
		r.mu.Unlock()
		var second <-chan time.Time
		switch {
		case pace == atSpeed:
			return buffer
		case pace > 0:
			second = time.After(time.Second)
		}
		select {
		case <-second:
			return buffer[:pace]
		case <-changed:
		}
	}
}

// passes says how much gets to the clients from now on.
func (r *slowRelay) passes(pace int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pace = pace
	close(r.changed)
	r.changed = make(chan struct{})
}

// lines are the connections with the server.
func (r *slowRelay) lines() []*net.TCPConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.far
}

// goes takes the clients away without a word: nothing that the server sends is answered any more,
// nobody reads, and nobody closes anything. It gives their addresses.
func (r *slowRelay) goes(quietly bool) (addresses []string) {
	r.Helper()
	r.mu.Lock()
	r.held = true
	r.mu.Unlock()
	if quietly { // with nothing on the way
		r.eventually("nothing is on the way for a second", func() bool {
			for range 20 {
				if r.onTheWay() {
					return false
				}
				time.Sleep(50 * time.Millisecond)
			}
			return true
		})
	}
	for _, conn := range r.lines() {
		raw, err := conn.SyscallConn()
		if err != nil {
			r.Fatal(err)
		}
		nothing := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}
		failed := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
				&unix.SockFprog{Len: 1, Filter: &nothing[0]})
		})
		if failed != nil || err != nil {
			r.Fatal(failed, err)
		}
		addresses = append(addresses, conn.LocalAddr().String())
	}
	r.passes(0)
	return addresses
}

// onTheWay is true if a socket of the connections, on either side, has bytes that wait.
func (r *slowRelay) onTheWay() bool {
	r.Helper()
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		r.Fatal(err)
	}
	for _, conn := range r.lines() {
		port := fmt.Sprintf(":%04X", conn.LocalAddr().(*net.TCPAddr).Port)
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 4 &&
				(strings.HasSuffix(fields[1], port) || strings.HasSuffix(fields[2], port)) &&
				fields[4] != "00000000:00000000" {
				return true
			}
		}
	}
	return false
}
