// Package content has what a bundle contains: files with relative paths, nothing else.
// It is built from input that nobody has checked, within limits, and kept as one
// canonical archive that is known by its digest: the same files are the same content
// on every machine, whatever they were packed with.
package content

import (
	"fmt"

	"github.com/berthdev/berth/internal/fault"
)

// Limits bound content, also what is taken in and left out again.
type Limits struct {
	Compressed int64 // bytes that are read of an archive
	Unpacked   int64 // bytes of all files, and of an archive without its compression
	File       int64 // bytes of a file
	Files      int   // files and directories
	Ratio      int64 // unpacked bytes for each byte that is read; see freeRatio
}

// freeRatio is how much of an archive may come out of a few bytes: only beyond it is
// the ratio a sign of anything.
const freeRatio = 16 << 20 // bytes

// DefaultLimits are far above what a bundle has: the whole of a release of Kubernetes'
// largest operators takes some ten megabytes. A file is held in memory when it is
// parsed, the rest is on disk.
func DefaultLimits() Limits {
	return Limits{Compressed: 256 << 20, Unpacked: 512 << 20, File: 32 << 20, Files: 10_000, Ratio: 200}
}

// Refuse is the error of an entry that content cannot have.
func Refuse(name, format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, "%q: %s", name, fmt.Sprintf(format, args...)).WithReason(ReasonRefused).
		WithHint("pack the bundle without it")
}

// exceed is the error of input that is over a limit.
func exceed(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, format, args...).WithReason(ReasonTooLarge).
		WithHint("leave out what does not belong to the bundle")
}

// The fault reasons of content that is not taken.
const (
	ReasonTooLarge = "CONTENT_TOO_LARGE" // it is over a limit
	ReasonRefused  = "CONTENT_REFUSED"   // an entry is no file with a decent name
)

// inUnits writes a number of bytes in a message, rounded up.
func inUnits(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%d MiB", (bytes+1<<20-1)>>20)
	case bytes >= 1<<10:
		return fmt.Sprintf("%d KiB", (bytes+1<<10-1)>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
