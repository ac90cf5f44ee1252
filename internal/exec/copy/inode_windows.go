package copy

import "io/fs"

type fileID struct{}

// idOf does not know files by their names here: each name is sent as a file of its own.
func idOf(fs.FileInfo) (id fileID, several bool) { return fileID{}, false }
