package serve

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// acknowledged asks the kernel. Before Linux 5.4 it does not tell how much room there is.
func acknowledged(conn *net.TCPConn) (last acknowledgement, known bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return last, false
	}
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return
		}
		known = true
		last = acknowledgement{
			ago:     time.Duration(info.Last_ack_recv) * time.Millisecond,
			missing: info.Unacked > 0 && info.Snd_wnd > 0,
		}
	})
	return last, known && err == nil
}
