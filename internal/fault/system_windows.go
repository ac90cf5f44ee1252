package fault

import (
	"errors"
	"slices"
	"syscall"

	"golang.org/x/sys/windows"
)

// Windows has numbers of its own: those of package syscall that are named as elsewhere are none that it returns, but
// programs may.

// IsBrokenPipe is true if the reader at the other end has gone, such as more.
func IsBrokenPipe(err error) bool {
	return is(err, windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA, syscall.EPIPE)
}

// IsAddressInUse is true if something else listens there.
func IsAddressInUse(err error) bool { return is(err, windows.WSAEADDRINUSE, syscall.EADDRINUSE) }

// IsConnectionRefused is true if nothing listens there.
func IsConnectionRefused(err error) bool {
	return is(err, windows.WSAECONNREFUSED, syscall.ECONNREFUSED)
}

// IsConnectionReset is true if a connection has been ended at once, by the other end or by this system.
func IsConnectionReset(err error) bool {
	return is(err, windows.WSAECONNRESET, windows.WSAECONNABORTED, syscall.ECONNRESET)
}

// IsOtherFileSystem is true for what cannot be renamed to another file system.
func IsOtherFileSystem(err error) bool { return is(err, windows.ERROR_NOT_SAME_DEVICE, syscall.EXDEV) }

func is(err error, one ...syscall.Errno) bool {
	return slices.ContainsFunc(one, func(e syscall.Errno) bool { return errors.Is(err, e) })
}
