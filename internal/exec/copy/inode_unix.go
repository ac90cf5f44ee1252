//go:build unix

package copy

import (
	"io/fs"
	"syscall"
)

// fileID is what all names of a file have in common.
type fileID struct{ dev, ino uint64 }

// idOf says which file it is, if it may have several names.
func idOf(info fs.FileInfo) (id fileID, several bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Nlink < 2 {
		return fileID{}, false
	}
	return fileID{uint64(stat.Dev), stat.Ino}, true //nolint:unconvert,nolintlint // it is another type elsewhere
}
