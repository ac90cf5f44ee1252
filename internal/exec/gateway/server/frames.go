package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"sync"

	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/berthdev/berth/internal/fault"
)

// What a client may send that is kept as a whole until it is read. A frame of a WebSocket is
// one piece of stdin, of which clients make 32 KiB, and some more of what is pasted. SPDY has
// queues of frames beside that, so that what waits in them is bounded, too.
const (
	maxMessage = 256 << 10
	maxFrame   = 64 << 10
	maxUnread  = 256 << 10
)

// frames reads what a client sends, no faster than it is used up, and ends the session of one whose frames are too
// long. The libraries of the protocols keep what they are sent: frames of 32 MiB, and hundreds of 16 MiB.
type frames struct {
	from io.Reader
	max  uint64
	// measure reads the beginning of a frame. It is whole when the length is known.
	measure func(header []byte) (length uint64, data, whole bool)
	refuse  func(error)

	header []byte
	left   uint64 // of the frame
	data   bool   // whether it waits until it is used up

	mu     sync.Mutex
	used   *sync.Cond
	unread int
	closed bool
}

// framesOf are those of the protocol that a client asks for.
func framesOf(r *http.Request, refuse func(error)) *frames {
	f := &frames{max: maxFrame, measure: ofSPDY, refuse: refuse}
	if wsstream.IsWebSocketRequest(r) {
		f.max, f.measure = maxMessage, ofWebSocket
	}
	f.used = sync.NewCond(&f.mu)
	return f
}

func (f *frames) Read(p []byte) (int, error) {
	f.wait()
	n, err := f.from.Read(p)
	if !f.pass(p[:n]) {
		f.refuse(fault.New(fault.InvalidArgument, "a frame was longer than %d KiB", f.max>>10))
		// An error would close the connection before the client is told.
		_, _ = io.CopyBuffer(io.Discard, f.from, make([]byte, smallBuffer))
		return 0, io.EOF
	}
	return n, err
}

// pass follows the frames; false if one is too long.
func (f *frames) pass(p []byte) bool {
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, uint64(len(p)))
			if f.data {
				f.use(-int(n)) //nolint:gosec // at most that of a slice
			}
			f.left, p = f.left-n, p[n:]
			continue
		}
		f.header, p = append(f.header, p[0]), p[1:]
		length, data, whole := f.measure(f.header)
		if !whole {
			continue
		}
		if length > f.max {
			return false
		}
		f.left, f.data, f.header = length, data, f.header[:0]
	}
	return true
}

// wait returns when enough was used up of what has been read, or when nobody uses anything any more.
func (f *frames) wait() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.unread > maxUnread && !f.closed {
		f.used.Wait()
	}
}

// use says how much of the data was used up.
func (f *frames) use(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unread -= n
	f.used.Signal()
}

// close lets whatever comes pass.
func (f *frames) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.used.Signal()
}

// begin reads from a connection, after what of it waits in a buffer, and fills that.
func (f *frames) begin(conn io.Reader, buffer *bufio.Reader) {
	waiting, _ := buffer.Peek(buffer.Buffered())
	f.from = io.MultiReader(bytes.NewReader(bytes.Clone(waiting)), conn)
	buffer.Reset(f)
}

// using is a stream of a client that uses up data.
type using struct {
	io.Reader
	frames *frames
}

func (u using) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	u.frames.use(n)
	return n, err
}

// ofWebSocket are frames of RFC 6455. The next one is read when the last one is used up.
func ofWebSocket(header []byte) (length uint64, data, whole bool) {
	if len(header) < 2 {
		return 0, false, false
	}
	size, mask := 0, 0
	switch header[1] & 0x7f {
	case 126:
		size = 2
	case 127:
		size = 8
	default:
		length = uint64(header[1] & 0x7f)
	}
	if header[1]&0x80 != 0 {
		mask = 4
	}
	if len(header) < 2+size+mask {
		return 0, false, false
	}
	for _, b := range header[2 : 2+size] {
		length = length<<8 | uint64(b)
	}
	return length, false, true
}

// ofSPDY are frames of SPDY/3.1.
func ofSPDY(header []byte) (length uint64, data, whole bool) {
	if len(header) < 8 {
		return 0, false, false
	}
	return uint64(binary.BigEndian.Uint32(header[4:]) & 0xffffff), header[0]&0x80 == 0, true
}
