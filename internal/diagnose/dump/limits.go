package dump

import (
	"fmt"
	"io"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// limits bound what is read of a dump.
type limits struct {
	file     int64          // bytes of a file that is read, unpacked
	text     int64          // bytes of all files that are read
	logs     int64          // bytes of the lines that are kept of logs
	unpacked int64          // bytes that come out of archives, read or not
	files    int            // files and directories
	objects  int            // and changes of objects
	packed   int            // archives in archives
	depth    int            // nested mappings and lists
	problems int            // of one file
	yaml     yamldoc.Limits // of one document: it takes much more memory than JSON
}

// defaults are far above what a namespace has, and what a report of a cluster has
// besides its logs.
func defaults() limits {
	const yaml = 16 << 20
	return limits{
		file: 64 << 20, text: 256 << 20, logs: 32 << 20, unpacked: 1 << 30, files: 100_000, objects: 200_000,
		packed: 3, depth: 500, problems: 10,
		yaml: yamldoc.Limits{Bytes: yaml, Marks: 4_000_000, Weight: 2 * yaml, Depth: 500},
	}
}

// used is how much of the limits of the whole is used up.
type used struct {
	text, logs, unpacked int64
	files, objects       int
}

// exceed ends the reading.
func (r *reader) exceed(format string, args ...any) {
	if r.exceeded == nil {
		r.exceeded = fault.New(fault.InvalidArgument, "the dump has more than %s", fmt.Sprintf(format, args...)).
			WithHint("dump one namespace only, and only pods, events, claims and workloads")
	}
}

// size is a number of bytes as messages have it.
func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// counted counts a file; false if that is too many.
func (r *reader) counted(file string) bool {
	r.used.files++
	if r.used.files > r.limits.files {
		r.exceed("%d files: %s is one too many", r.limits.files, file)
	}
	return r.exceeded == nil
}

// meter counts what comes out of an archive, and ends where that is too much.
type meter struct {
	in   io.Reader
	r    *reader
	file string
}

func (m meter) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	if m.r.used.unpacked += int64(n); m.r.used.unpacked > m.r.limits.unpacked {
		m.r.exceed("%s unpacked, up to %s", size(m.r.limits.unpacked), m.file)
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}
