//go:build unix

package terminal

import "os"

// takesEscapes is true: what a terminal takes is in TERM.
func takesEscapes(*os.File) bool { return true }
