package logs

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/berthdev/berth/internal/kube"
)

// small is an output that takes little at a time.
type small struct {
	all     int
	largest int
}

func (s *small) Write(text []byte) (int, error) {
	s.all += len(text)
	s.largest = max(s.largest, len(text))
	return len(text), nil
}

// endless is a line that has no end for so many bytes.
func endless(size int64) io.Reader {
	return io.MultiReader(strings.NewReader("2026-01-01T00:00:00.1Z "), io.LimitReader(zeros{}, size))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// A line without an end is written as it comes.
func TestEndlessLine(t *testing.T) {
	const size = 8 << 20
	pod := runs()
	pod.Spec.InitContainers = nil
	for name, read := range map[string]func(*kube.Client, io.Writer) error{
		"followed":         func(c *kube.Client, out io.Writer) error { return Copy(t.Context(), c, pod, all, out) },
		"all are followed": func(c *kube.Client, out io.Writer) error { return CopyAll(t.Context(), c, pod, all, out) },
		"all": func(c *kube.Client,
			out io.Writer,
		) error {
			return CopyAll(t.Context(), c, pod, Request{Tail: -1}, out)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var pieces small
			client := away(t, func() (io.Reader, error) { return endless(size), nil })
			if err := read(client, &pieces); err != nil || pieces.all < size {
				t.Fatalf("%d bytes, %v", pieces.all, err)
			}
			if pieces.largest > maxPiece+100 {
				t.Errorf("%d bytes at once", pieces.largest)
			}
		})
	}
}

// A long line that breaks off goes on where it was.
func TestFollowLongLineAgain(t *testing.T) {
	long := func(letter string) string { return strings.Repeat(letter, 5*maxPiece/2) }
	lines := []string{
		"2026-01-01T00:00:00.1Z a", "2026-01-01T00:00:00.1Z " + long("b"), "2026-01-01T00:00:00.1Z " + long("c"),
		"2026-01-01T00:00:00.1Z d", "2026-01-01T00:00:00.2Z " + long("e"), "2026-01-01T00:00:00.2Z ",
		"2026-01-01T00:00:00.3Z " + long("f"),
	}
	whole := strings.Join(lines, "\n") + "\n"
	times := strings.NewReplacer("2026-01-01T00:00:00.1Z ", "", "2026-01-01T00:00:00.2Z ", "",
		"2026-01-01T00:00:00.3Z ", "")
	for name, c := range map[string]struct {
		timestamps bool
		want       string
	}{
		"texts": {false, times.Replace(whole)}, "with times": {true, whole},
	} {
		t.Run(name, func(t *testing.T) {
			for _, breaks := range [][]int{{1, 1, 2}, {4, 3, 5, 6, 6}} {
				log := &kubelet{lines: lines, breaks: breaks}
				r := all
				r.Timestamps = c.timestamps
				var out bytes.Buffer
				if err := Copy(t.Context(), clientOf(t, log), runs(), r, &out); err != nil {
					t.Fatal(err)
				}
				if out.String() != c.want {
					t.Errorf("after %v there are %d bytes, want %d", breaks, out.Len(), len(c.want))
				}
			}
		})
	}
}

// What comes before the lines that come again is the end of a line that began in an
// earlier second: the kubelet sends it without its time.
func TestFollowAgainAfterALongLine(t *testing.T) {
	first := func() (io.Reader, error) {
		log := "2026-01-01T00:00:00.9Z long line\n2026-01-01T00:00:01.5Z a\n"
		return io.MultiReader(strings.NewReader(log), iotest.ErrReader(syscall.ECONNRESET)), nil
	}
	for name, c := range map[string]struct{ again, want string }{
		"the end of a line": {"line\n2026-01-01T00:00:01.5Z a\n2026-01-01T00:00:01.6Z b\n", "long line\na\nb\n"},
		"no log any more": {
			"unable to retrieve container logs for containerd://x",
			"long line\na\nunable to retrieve container logs for containerd://x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			again := func() (io.Reader, error) { return strings.NewReader(c.again), nil }
			var out bytes.Buffer
			if err := Copy(t.Context(), away(t, first, again), runs(), all, &out); err != nil ||
				out.String() != c.want {
				t.Errorf("%q, %v", out.String(), err)
			}
		})
	}
}

func TestLongLinesKeepTogether(t *testing.T) {
	var out strings.Builder
	l := &lines{out: &out}
	if err := l.copy("[x] ", bufio.NewReaderSize(strings.NewReader(strings.Repeat("a", 20)+"\nb\n"), 16)); err != nil {
		t.Fatal(err)
	}
	if want := "[x] " + strings.Repeat("a", 16) + "\n[x] aaaa\n[x] b\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
