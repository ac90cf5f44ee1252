package pod

import (
	_ "embed"
)

//go:embed keep.sh
var keepScript string

//go:embed keep.py
var keeper string

// Kept is the command that enters the shell that is kept for a user in a container, or starts it: with Login.Theirs. It
// goes on when this command ends, however that does, and takes several at a time. If the image has no program to keep a
// shell with, the command ends with berth's own status and says so on stderr.
func Kept() []string {
	return []string{"/bin/sh", "-c", uncommented(keepScript), "sh", uncommented(keeper)}
}
