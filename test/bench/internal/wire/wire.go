// Package wire is a network between a client and a server on this host: so many bytes a
// second each way, and so long for a round trip. It copies bytes and knows no protocol.
package wire

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Wire leads to one address.
type Wire struct {
	to       string
	listener net.Listener
	rate     atomic.Int64 // bytes a second, each way; 0 for any
	trip     atomic.Int64 // a round trip, in nanoseconds
	up, down pace
}

// Start opens a wire to an address, which is as fast as this host.
func Start(to string) (*Wire, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &Wire{to: to, listener: listener}
	go w.accept()
	return w, nil
}

// Addr is where it begins.
func (w *Wire) Addr() string { return w.listener.Addr().String() }

// Set says what the wire is like from now on: bytes a second, 0 for any, and the time of a
// round trip.
func (w *Wire) Set(rate int64, trip time.Duration) {
	w.rate.Store(rate)
	w.trip.Store(int64(trip))
}

// Close lets nobody in any more. What is open stays so.
func (w *Wire) Close() error { return w.listener.Close() }

func (w *Wire) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		go w.connect(near)
	}
}

// connect takes a round trip, as a connection does.
func (w *Wire) connect(near net.Conn) {
	defer func() { _ = near.Close() }()
	far, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	time.Sleep(time.Duration(w.trip.Load()))
	var both sync.WaitGroup
	both.Go(func() { w.carry(far, near, &w.up) })
	both.Go(func() { w.carry(near, far, &w.down) })
	both.Wait()
}

// piece is on its way until it is due.
type piece struct {
	bytes []byte
	due   time.Time
}

const (
	pieceSize = 16 << 10
	// onTheWay is how many pieces are, as in the buffers of a network: more than fit into
	// a round trip of 40 ms at 200 Mbit/s.
	onTheWay = 128
)

// carry copies one way until its end.
func (w *Wire) carry(to, from net.Conn, p *pace) {
	way := make(chan piece, onTheWay)
	go func() {
		defer close(way)
		for {
			b := make([]byte, pieceSize)
			n, err := from.Read(b)
			if n > 0 {
				p.wait(n, w.rate.Load())
				way <- piece{b[:n], time.Now().Add(time.Duration(w.trip.Load() / 2))}
			}
			if err != nil {
				return
			}
		}
	}()
	for next := range way {
		time.Sleep(time.Until(next.due))
		if _, err := to.Write(next.bytes); err != nil {
			_ = from.Close()
			break
		}
	}
	for range way { // what nobody takes any more
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// pace lets bytes pass at a rate, those of all connections together.
type pace struct {
	mu   sync.Mutex
	free time.Time // when what has passed is through
}

func (p *pace) wait(n int, rate int64) {
	if rate == 0 {
		return
	}
	p.mu.Lock()
	now := time.Now()
	if p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(int64(n) * int64(time.Second) / rate))
	free := p.free
	p.mu.Unlock()
	time.Sleep(time.Until(free))
}
