// Package copy copies files to and from where a command can be run: as a tar stream
// through the command's standard input or output. What arrives has a temporary name
// beside its final one, and gets that when it is complete and checked, so that nothing
// half has a final name, however a copy ends. It knows of the other end that it is an
// exec.Runner, a shell and a tar.
package copy

import (
	"crypto/rand"
	_ "embed"
	"sync/atomic"
)

// Temporary begins the names of directories that receive something: who finds one that
// a killed run has left sees what it is.
const Temporary = ".berth-cp-"

//go:embed scripts/receive.sh
var receiveScript string

//go:embed scripts/send.sh
var sendScript string

// script is a command that runs a script of this package.
func script(text string, args ...string) []string {
	return append([]string{"sh", "-c", text, "berth-cp"}, args...)
}

// Result is what was copied.
type Result struct {
	Path  string // what it is called at its destination
	Files int64  // links and directories are not counted
	Bytes int64
	// Warnings are what was noticed on the way and does not make the copy a wrong one.
	Warnings []string
}

// Meter counts what was copied so far. It can be read while that goes on.
type Meter struct {
	Bytes, Files atomic.Int64
	// TotalBytes is how many there will be; 0 if that is not known.
	TotalBytes atomic.Int64
}

func (m *Meter) result(path string, warnings []string) Result {
	return Result{Path: path, Files: m.Files.Load(), Bytes: m.Bytes.Load(), Warnings: warnings}
}

// token is a part of a name that nobody else has.
func token() string { return rand.Text()[:10] }
