package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// takesEscapes asks a console of Windows to take escape sequences; false for one that prints them as they are, such as
// the legacy console.
func takesEscapes(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
