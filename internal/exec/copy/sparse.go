package copy

import (
	"bytes"
	"io"
	"os"
)

const (
	copyBuffer = 128 << 10
	// hole is how many zeros at least are not written: a block of most file systems.
	hole = 4 << 10
)

// onlyReader hides that a reader can write by itself.
type onlyReader struct{ io.Reader }

// sparseWriter writes a file, and makes holes of zeros.
type sparseWriter struct {
	file  *os.File
	meter *Meter
	size  int64
	wrote int64 // the end of what was written
}

// Write implements io.Writer. Blocks of zeros are left out.
func (w *sparseWriter) Write(p []byte) (int, error) {
	for done := 0; done < len(p); {
		n := min(hole-int(w.size%hole), len(p)-done)
		block, data := p[done:done+n], false
		for !isZero(block) { // as many blocks as there is data in
			data = true
			if done+n == len(p) {
				break
			}
			next := min(hole, len(p)-done-n)
			if isZero(p[done+n : done+n+next]) {
				break
			}
			n += next
			block = p[done+n-next : done+n]
		}
		if data {
			if _, err := w.file.WriteAt(p[done:done+n], w.size); err != nil {
				return done, err
			}
			w.wrote = w.size + int64(n)
		}
		w.size += int64(n)
		done += n
		w.meter.Bytes.Add(int64(n))
	}
	return len(p), nil
}

// finish gives the file its size if it ends in a hole.
func (w *sparseWriter) finish() error {
	if w.wrote == w.size {
		return nil
	}
	return w.file.Truncate(w.size)
}

func isZero(p []byte) bool {
	var zeros [hole]byte
	return bytes.Equal(p, zeros[:len(p)])
}
