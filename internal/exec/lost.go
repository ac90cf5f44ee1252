package exec

import (
	"errors"
	"io"
	"net"
	"strings"
)

// IsLost is true if a session had begun and its connection broke off. client-go has no type
// for that: it is the error of reading the stream on which the exit status would have come,
// or that of the connection itself.
func IsLost(err error) bool {
	if err == nil {
		return false
	}
	if operation, ok := errors.AsType[*net.OpError](err); ok && operation.Op == "dial" {
		return false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	for _, part := range []string{
		"error reading from error stream", "abnormal closure", "connection reset by peer", "use of closed network connection",
		"broken pipe", "connection closed", "unexpected EOF", "lost connection",
	} {
		if strings.Contains(err.Error(), part) {
			return true
		}
	}
	return false
}
