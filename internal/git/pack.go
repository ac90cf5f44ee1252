package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// The limits of one pack beside those of Limits. They hold for what comes out of it: a few kilobytes of deltas make
// gigabytes.
const (
	maxObjects = 500_000
	maxMeta    = 8 << 20  // bytes of a commit, a tag or a directory
	maxHeld    = 64 << 20 // bytes of the objects that are held to make one of deltas
)

var (
	errUnpackedTooLarge = errors.New("its objects are too large when unpacked")
	errTooManyObjects   = errors.New("it has too many objects")
	errDeltasTooLarge   = errors.New("its deltas are too large")
	errObjectTooLarge   = errors.New("an object is too large")
)

// pack is a pack as it was sent, and where its objects are. Nothing of it is unpacked until it is needed: most of a
// commit never is.
type pack struct {
	content storage
	entries []packed
	// whole are the objects that are not deltas. The others are found by what they are made of: its place, or its hash.
	whole    map[plumbing.Hash]int
	onEntry  map[int][]int
	onObject map[plumbing.Hash][]int
}

// packed is an object in a pack.
type packed struct {
	kind   plumbing.ObjectType
	hash   plumbing.Hash // unless it is a delta
	offset int64
	length int64 // bytes, inflated; of a delta, its own
	result int64 // bytes of what a delta makes
}

// index reads a pack once, object by object, and takes what it inflates from left.
func index(ctx context.Context, content storage, left *int64) (*pack, error) {
	scanner := packfile.NewScanner(content.reader(ctx))
	_, count, err := scanner.Header()
	if err != nil {
		return nil, err
	}
	if count > maxObjects {
		return nil, errTooManyObjects
	}
	p := &pack{
		content: content, whole: map[plumbing.Hash]int{}, onEntry: map[int][]int{},
		onObject: map[plumbing.Hash][]int{},
	}
	places := map[int64]int{}
	for i := range int(count) {
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return nil, err
		}
		if *left -= header.Length; *left < 0 {
			return nil, errUnpackedTooLarge
		}
		places[header.Offset] = i
		entry := packed{kind: header.Type, offset: header.Offset, length: header.Length}
		if header.Type.IsDelta() {
			entry.result, err = p.addDelta(scanner, header, i, places)
		} else {
			entry.hash, err = p.addWhole(scanner, header, i)
		}
		if err != nil {
			return nil, err
		}
		p.entries = append(p.entries, entry)
	}
	_, err = scanner.Checksum()
	return p, err
}

// addWhole notes an object by its hash.
func (p *pack) addWhole(scanner *packfile.Scanner, header *packfile.ObjectHeader, i int) (hash plumbing.Hash,
	err error,
) {
	if !header.Type.Valid() {
		return hash, fmt.Errorf("%w: an object of type %d", packfile.ErrMalformedPackFile, header.Type)
	}
	hasher := plumbing.NewHasher(header.Type, header.Length)
	n, _, err := scanner.NextObject(hasher)
	if err == nil && n != header.Length {
		err = fmt.Errorf("%w: an object is shorter than announced", packfile.ErrMalformedPackFile)
	}
	hash = hasher.Sum()
	p.whole[hash] = i
	return hash, err
}

// addDelta notes a delta by what it is applied to, and returns the size of what it makes.
func (p *pack) addDelta(scanner *packfile.Scanner, header *packfile.ObjectHeader, i int,
	places map[int64]int,
) (result int64, err error) {
	if header.Type == plumbing.REFDeltaObject {
		p.onObject[header.Reference] = append(p.onObject[header.Reference], i)
	} else {
		base, ok := places[header.OffsetReference]
		if !ok || base == i {
			return 0, fmt.Errorf("%w: a delta of nothing", packfile.ErrMalformedPackFile)
		}
		p.onEntry[base] = append(p.onEntry[base], i)
	}
	var content head
	if _, _, err := scanner.NextObject(&content); err != nil {
		return 0, err
	}
	size, ok := content.deltaResult()
	if !ok {
		return 0, packfile.ErrMalformedPackFile
	}
	if size > maxHeld {
		size = maxHeld + 1
	}
	return int64(size), nil //nolint:gosec // it was just bounded
}

// inflate unpacks one object, or a delta as it is.
func (p *pack) inflate(ctx context.Context, i int) ([]byte, error) {
	scanner := packfile.NewScanner(p.content.reader(ctx))
	if _, err := scanner.SeekObjectHeader(p.entries[i].offset); err != nil {
		return nil, err
	}
	content := bytes.NewBuffer(make([]byte, 0, p.entries[i].length))
	_, _, err := scanner.NextObject(content)
	return content.Bytes(), err
}

// head keeps the beginning of an object, where a delta has its sizes.
type head struct{ text []byte }

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), 2*binary.MaxVarintLen64-len(h.text))]...)
	return len(p), nil
}

// deltaResult is the size of the object that a delta makes of its base.
func (h *head) deltaResult() (size uint64, ok bool) {
	_, n := binary.Uvarint(h.text)
	if n <= 0 {
		return 0, false
	}
	size, m := binary.Uvarint(h.text[n:])
	return size, m > 0
}

// storage is where a pack is kept, in memory or in a file.
type storage struct {
	io.ReaderAt
	size int64
}

// inMemory keeps a pack that is there already.
func inMemory(content []byte) storage { return storage{bytes.NewReader(content), int64(len(content))} }

// keep stores a pack as it is sent: in memory, or in a file of the directory if there is one. The file has no name any
// more when keep returns, so that nothing is left behind by whatever ends the program; closing it gives the space back.
func keep(pack io.Reader, limit int64, dir string) (_ storage, file *os.File, err error) {
	limited := http.MaxBytesReader(nil, io.NopCloser(pack), limit)
	if dir == "" {
		content, err := io.ReadAll(limited)
		return inMemory(content), nil, err
	}
	if file, err = os.CreateTemp(dir, "pack-"); err != nil {
		return storage{}, nil, err
	}
	if err = os.Remove(file.Name()); err == nil {
		var size int64
		if size, err = io.Copy(file, limited); err == nil {
			return storage{file, size}, file, nil
		}
	}
	file.Close()
	return storage{}, nil, err
}

// reader reads a pack from its beginning until the context ends.
func (s storage) reader(ctx context.Context) io.ReadSeeker {
	return &interruptible{io.NewSectionReader(s, 0, s.size), ctx.Err}
}

// interruptible is a content whose reader is stopped by an error, such as that of a context that has ended.
type interruptible struct {
	io.ReadSeeker
	err func() error
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.err(); err != nil {
		return 0, err
	}
	return r.ReadSeeker.Read(p)
}
