package volume

import (
	"context"
	"io"
	"os"
	"time"
)

// Kind is what there is under a name.
type Kind string

// The kinds. Only the first three have content, or a target, that can be read.
const (
	KindFile      Kind = "file"
	KindDirectory Kind = "directory"
	KindLink      Kind = "link"
	KindPipe      Kind = "pipe"
	KindSocket    Kind = "socket"
	KindDevice    Kind = "device"
)

// Entry is what a directory of a volume has under a name.
type Entry struct {
	Name string
	Kind Kind
	// Size is that of a file, in bytes.
	Size     int64
	Mode     os.FileMode
	Modified time.Time
	// Target is where a link leads.
	Target string
}

// Listing is what is in a directory.
type Listing struct {
	Entries []Entry
	// More is true if there are more than are listed.
	More bool
}

// Files are those of a volume. Paths are relative to it. No link leads out of it, and nothing is opened that is neither
// a file nor a directory.
type Files interface {
	List(ctx context.Context, path string) (Listing, error)
	// Open opens a file for reading.
	Open(path string) (*os.File, error)
	// Archive writes what is in a directory, or a file, as a tar stream.
	Archive(ctx context.Context, path string, to io.Writer) error
}

// Reader is the driver of a node for those who may read some of its volumes.
type Reader interface {
	// Picture lists what is in its afterlife.
	Picture(ctx context.Context) (Picture, error)
	// Find is a volume that the node has, or has had a short time ago.
	Find(id string) (v Volume, known bool)
	// Read lets do read a volume in its afterlife. That does not keep it from being removed: the context of do ends
	// then, and the error has the reason ReasonRemoved, as it has if the volume was removed before.
	Read(ctx context.Context, id string, do func(ctx context.Context, files Files) error) error
}

// ReasonRemoved is the reason of an error about a volume that was removed.
const ReasonRemoved = "removed"
