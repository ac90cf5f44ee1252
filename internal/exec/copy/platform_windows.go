package copy

import (
	"errors"
	"io/fs"
	"os"
)

// canHold is false where a temporary directory does not say whether its process lives:
// what a killed run has left stays, under a name that says what it is.
const canHold = false

func hold(*os.File) bool { return true }

type fileID struct{}

// idOf does not know files by their names here: each name is sent as a file of its own.
func idOf(fs.FileInfo) (id fileID, several bool) { return fileID{}, false }

// replace gives a file another name. Windows keeps a read-only file from being replaced, as those of .git/objects are;
// elsewhere that is up to the directory.
func replace(at *os.Root, from, to string) error {
	err := at.Rename(from, to)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	info, unknown := at.Lstat(to)
	if unknown != nil || !info.Mode().IsRegular() || info.Mode()&0o200 != 0 || at.Chmod(to, 0o600) != nil {
		return err
	}
	if err = at.Rename(from, to); err != nil {
		_ = at.Chmod(to, info.Mode())
	}
	return err
}
