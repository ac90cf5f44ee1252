package git

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

var errUnpackedTooLarge = errors.New("its objects are too large when unpacked")

// storage keeps unpacked objects in memory, up to a limit: a small pack can
// hold very large objects.
type storage struct {
	*memory.Storage
	left int64 // bytes
}

// unpack adds the objects of a pack. Their sizes are added up before any is
// unpacked; go-git refuses an object that exceeds the size in its header.
func (s *storage) unpack(pack []byte) error {
	scanner := packfile.NewScanner(bytes.NewReader(pack))
	_, count, err := scanner.Header()
	if err != nil {
		return err
	}
	for range count {
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return err
		}
		if s.left -= header.Length; s.left < 0 {
			return errUnpackedTooLarge
		}
		var content head
		if _, _, err := scanner.NextObject(&content); err != nil {
			return err
		}
		if header.Type != plumbing.OFSDeltaObject && header.Type != plumbing.REFDeltaObject {
			continue
		}
		size, ok := content.deltaResult()
		if !ok {
			return packfile.ErrMalformedPackFile
		}
		if size > uint64(s.left) { //nolint:gosec // not negative
			return errUnpackedTooLarge
		}
		s.left -= int64(size) //nolint:gosec // at most what is left
	}
	return packfile.UpdateObjectStorage(s, bytes.NewReader(pack))
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
