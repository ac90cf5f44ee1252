//go:build unix

package fault

import (
	"errors"
	"syscall"
)

// What systems number in different ways is asked for here.

// IsBrokenPipe is true if the reader at the other end has gone, such as head.
func IsBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// IsAddressInUse is true if something else listens there.
func IsAddressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// IsConnectionRefused is true if nothing listens there.
func IsConnectionRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// IsConnectionReset is true if the other end has ended a connection at once.
func IsConnectionReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

// IsOtherFileSystem is true for what cannot be renamed to another file system.
func IsOtherFileSystem(err error) bool { return errors.Is(err, syscall.EXDEV) }
