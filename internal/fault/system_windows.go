package fault

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Windows has numbers of its own: those of package syscall that are named as elsewhere are none that it returns.

// IsBrokenPipe is true if the reader at the other end has gone, such as more.
func IsBrokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

// IsAddressInUse is true if something else listens there.
func IsAddressInUse(err error) bool { return errors.Is(err, windows.WSAEADDRINUSE) }

// IsConnectionRefused is true if nothing listens there.
func IsConnectionRefused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

// IsConnectionReset is true if a connection has been ended at once, by the other end or by this system.
func IsConnectionReset(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED)
}

// IsOtherFileSystem is true for what cannot be renamed to another file system.
func IsOtherFileSystem(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }
