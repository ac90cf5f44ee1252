package serve

import (
	"crypto/tls"
	"net"
	"time"
)

const (
	// unanswered is how long the other end may leave what it has room for unacknowledged: as long
	// as keep-alive takes where nothing is on the way.
	unanswered = time.Minute
	// unprobed is how long nothing at all may come. A client that does not read answers the kernel's
	// questions whether there is room, of which there is one in two minutes at least.
	unprobed = 5 * time.Minute
)

// Silent is true if the other end of a connection is certainly gone: it acknowledges nothing any
// more. Keep-alive notices that only where nothing is on the way, and TCP_USER_TIMEOUT ends those,
// too, that are there and only do not read. False where the system does not tell.
func Silent(conn net.Conn) bool {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		last, known := acknowledged(tcp)
		return known && last.silent()
	}
	return false
}

// acknowledgement is what is known of the last one of the other end.
type acknowledgement struct {
	ago     time.Duration
	missing bool // something was sent after it, for which the other end had room
}

func (a acknowledgement) silent() bool {
	if a.missing {
		return a.ago >= unanswered
	}
	return a.ago >= unprobed
}
