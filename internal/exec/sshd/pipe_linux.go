package sshd

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// pipeSize is how many bytes the pipe to a client holds. A client that finds several packets in it takes them at once:
// with the 64 KiB that a pipe has by itself, it spends half as much again on many channels. More helps little, and
// what all pipes of a user hold is limited (pipe-user-pages-soft).
const pipeSize = 256 << 10

// Widen makes room in the pipes on which a client is served, as far as the streams are pipes and the system lets it.
func Widen(streams ...any) {
	for _, stream := range streams {
		file, ok := stream.(syscall.Conn)
		if !ok {
			continue
		}
		raw, err := file.SyscallConn()
		if err != nil {
			continue
		}
		_ = raw.Control(func(fd uintptr) {
			now, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
			if err == nil && now < pipeSize {
				_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) // it works with less as well
			}
		})
	}
}
