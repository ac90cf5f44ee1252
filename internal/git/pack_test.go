package git

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // the format's own
	"encoding/binary"
	"errors"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// entry is an object of a pack: what its header says, and its content.
type entry struct {
	kind    plumbing.ObjectType
	size    int
	offset  int           // of the base, backwards; for a delta
	base    plumbing.Hash // of a delta that names it
	content []byte
}

func packOf(entries ...entry) []byte {
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02")
	_ = binary.Write(&b, binary.BigEndian, uint32(len(entries))) //nolint:gosec // a few
	z, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	for _, e := range entries {
		first, rest := byte(e.kind)<<4|byte(e.size&15), e.size>>4
		for ; rest > 0; rest >>= 7 {
			b.WriteByte(first | 0x80)
			first = byte(rest & 127)
		}
		b.WriteByte(first)
		if e.kind == plumbing.OFSDeltaObject {
			b.WriteByte(byte(e.offset))
		}
		if e.kind == plumbing.REFDeltaObject {
			b.Write(e.base[:])
		}
		z.Reset(&b)
		_, _ = z.Write(e.content)
		_ = z.Close()
	}
	sum := sha1.Sum(b.Bytes()) //nolint:gosec // the format's own
	return append(b.Bytes(), sum[:]...)
}

// A pack can be small and its content large: by compression, by a delta that copies its base again and again, or by a
// size that is a lie.
func TestUnpackIsBounded(t *testing.T) {
	zeros := make([]byte, 1000)
	base := entry{kind: plumbing.BlobObject, size: 1000, content: zeros}
	length := len(packOf(base)) - 12 - 20
	delta := func(result uint64, copies int) entry {
		d := binary.AppendUvarint(binary.AppendUvarint(nil, 1000), result)
		for range copies {
			d = append(d, 0xb0, 0xe8, 0x03) // copy 1000 bytes from offset 0
		}
		return entry{kind: plumbing.OFSDeltaObject, size: len(d), offset: length, content: d}
	}
	for name, test := range map[string]struct {
		pack []byte
		want error
		fits bool
	}{
		"a blob":  {packOf(base), nil, true},
		"a delta": {packOf(base, delta(2000, 2)), nil, true},
		"too large": {
			packOf(base, entry{kind: plumbing.BlobObject, size: 9000, content: make([]byte, 9000)}),
			errUnpackedTooLarge, false,
		},
		"too large together":    {packOf(base, base, base, base, base, base), errUnpackedTooLarge, false},
		"a delta too large":     {packOf(base, delta(5000, 5)), errUnpackedTooLarge, false},
		"a delta without end":   {packOf(base, delta(1<<63, 5)), errUnpackedTooLarge, false},
		"more than announced":   {packOf(entry{kind: plumbing.BlobObject, size: 10, content: zeros}), nil, false},
		"a delta without sizes": {packOf(base, entry{kind: plumbing.OFSDeltaObject, offset: length}), nil, false},
		"no pack":               {[]byte("no pack"), nil, false},
	} {
		o := &objects{left: 5000}
		err := o.add(t.Context(), inMemory(test.pack))
		if err == nil { // what does not exist is found to be none of those that can be made
			if _, err = o.get(t.Context(), plumbing.BlobObject, plumbing.ZeroHash, 5000); errors.Is(err,
				plumbing.ErrObjectNotFound) {
				err = nil
			}
		}
		if (err == nil) != test.fits || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
