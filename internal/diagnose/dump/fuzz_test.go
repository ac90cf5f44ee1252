package dump

import (
	"bytes"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// Whatever the bytes are, they are read within limits, or the error says what is wrong.
func FuzzDump(f *testing.F) {
	for _, seed := range [][]byte{
		[]byte(podYAML), []byte(podJSON), []byte(change), []byte(podYAML + "---\n" + podYAML),
		[]byte("[" + podJSON + "]"),
		[]byte("\xff\xfek\x00i\x00n\x00d\x00:\x00"), packed(podYAML), []byte("PK\x03\x04"),
		[]byte("Error from server: x\n==== START logs for\n==== END logs for\n"), []byte("kind: &a [*a]\n"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := &reader{limits: defaults()}
		r.limits.unpacked, r.limits.objects = 1<<20, 100
		r.stream(source{file: "f", in: bytes.NewReader(raw)})
		c, err := r.contents("f")
		if len(c.Records) > 100 || err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%d records, %v", len(c.Records), err)
		}
		c.Newest()
	})
}
