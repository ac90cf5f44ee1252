package machine

import (
	"bytes"
	"io"
)

// LeaveKey is what is typed to leave a console, as with telnet and virsh: Ctrl-]. A
// console does not end by itself, and gets every other key.
const LeaveKey = 0x1d

// Leavable passes on what is typed until somebody leaves.
func Leavable(typed io.Reader, leave func()) io.Reader { return leavable{typed, leave} }

type leavable struct {
	typed io.Reader
	leave func()
}

// Read implements io.Reader.
func (l leavable) Read(p []byte) (int, error) {
	n, err := l.typed.Read(p)
	if i := bytes.IndexByte(p[:n], LeaveKey); i >= 0 {
		l.leave()
		return i, io.EOF
	}
	return n, err
}
