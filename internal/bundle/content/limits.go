// Package content has what a bundle contains: files with relative paths, nothing else.
// It is built from input that nobody has checked, within limits, and kept as one
// canonical archive that is known by its digest: the same files are the same content
// on every machine, whatever they were packed with.
package content

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

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

// Problems collect the entries that content cannot have, so that they are reported
// together.
type Problems []*fault.Error

const maxProblems = 20

// Add takes the error of an entry. It is false for any other error, which ends the
// reading, and where there are enough.
func (p *Problems) Add(err error) bool {
	if fault.ReasonOf(err) != ReasonRefused || len(*p) == maxProblems {
		return false
	}
	*p = append(*p, fault.From(err))
	return true
}

// Or is the error of all that was added; if there is none, that of the rest.
func (p *Problems) Or(rest error) error {
	switch len(*p) {
	case 0:
		return rest
	case 1:
		return (*p)[0]
	}
	joint := fault.New(fault.InvalidArgument, "%d entries cannot be in a bundle, the first is %w", len(*p), (*p)[0]).
		WithReason(ReasonRefused).WithHint("%s", (*p)[0].Hint)
	for _, problem := range *p {
		joint.Problems = append(joint.Problems, problem.Message)
	}
	return joint
}

const gzipMagic = "\x1f\x8b"

// unknown recognizes archives that are not read.
func unknown(in *bufio.Reader) error {
	for _, format := range []struct{ magic, name string }{
		{"PK\x03\x04", "a zip file"},
		{"\xfd7zXZ\x00", "compressed with xz"},
		{"BZh", "compressed with bzip2"},
		{"\x28\xb5\x2f\xfd", "compressed with zstd"},
	} {
		if start, _ := in.Peek(len(format.magic)); bytes.Equal(start, []byte(format.magic)) {
			return fault.New(fault.InvalidArgument, "the archive is %s, which is not supported", format.name).
				WithHint("pack it as a tar file, with gzip or without: tar -czf bundle.tgz -C DIRECTORY .")
		}
	}
	// A header of a tar file, or the beginning of one, has zeros behind the name.
	if start, err := in.Peek(tarBlock); errors.Is(err, io.EOF) && !bytes.Contains(start, []byte{0}) {
		return notTar()
	}
	return nil
}

const tarBlock = 512 // bytes

// isPage recognizes what servers answer in place of a file: YAML cannot begin like that.
func isPage(in *bufio.Reader) bool {
	start, _ := in.Peek(tarBlock)
	return bytes.HasPrefix(bytes.TrimSpace(start), []byte("<"))
}

// isText recognizes a text by how it begins. A header of a tar file has zeros behind the name, and what is compressed
// is hardly ever UTF-8.
func isText(in *bufio.Reader) bool {
	start, _ := in.Peek(tarBlock)
	for len(start) > 0 {
		r, size := utf8.DecodeRune(start)
		if r == utf8.RuneError && size == 1 {
			return len(start) < utf8.UTFMax && !utf8.FullRune(start) // cut off
		}
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return false
		}
		start = start[size:]
	}
	return true
}

func notTar() error {
	return fault.New(fault.InvalidArgument, "this is not a tar file, with gzip or without").
		WithHint("pack the bundle: tar -czf bundle.tgz -C DIRECTORY .")
}

// The bounds of a name are those of file systems, on which it may be unpacked.
const (
	maxName = 1024 // bytes of a path
	maxPart = 255  // bytes between two slashes
)

// cleanName gives the name of an entry as content has it: relative, with slashes, and
// without "." and empty parts. Of "./" and the like nothing is left but ".".
func cleanName(name string) (string, error) {
	switch {
	case !utf8.ValidString(name):
		return "", Refuse(name, "a name has to be UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", Refuse(name, "a name cannot have control characters")
	case strings.Contains(name, `\`):
		return "", Refuse(name, "a name cannot have a backslash, which separates directories on some systems")
	case strings.HasPrefix(name, "/"):
		return "", Refuse(name, "an absolute path")
	case name == "":
		return "", Refuse(name, "a name cannot be empty")
	}
	clean := path.Clean(name)
	if len(clean) > maxName {
		return "", Refuse(name, "a path cannot be longer than %d bytes", maxName)
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			return "", Refuse(name, `a path cannot have ".."`)
		case len(part) > maxPart:
			return "", Refuse(name, "a name cannot be longer than %d bytes", maxPart)
		}
	}
	return clean, nil
}
