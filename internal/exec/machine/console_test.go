package machine

import (
	"io"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/remotecommand"
)

type size = remotecommand.TerminalSize

func of(width, height uint16) size { return size{Width: width, Height: height} }

// queue has sizes until there are no more.
type queue []size

func (q *queue) Next() *size {
	if len(*q) == 0 {
		return nil
	}
	next := (*q)[0]
	*q = (*q)[1:]
	return &next
}

// A session begins with another size and then the real one; what follows is as it is.
func TestRedraw(t *testing.T) {
	for _, c := range []struct{ sizes, want []size }{
		{nil, nil},
		{[]size{of(80, 24)}, []size{of(81, 25), of(80, 24)}},
		{[]size{of(80, 24), of(100, 40)}, []size{of(81, 25), of(80, 24), of(100, 40)}},
		{[]size{of(65535, 65535)}, []size{of(65534, 65534), of(65535, 65535)}},
	} {
		sizes := queue(c.sizes)
		var got []size
		for q := Redraw(&sizes); ; {
			next := q.Next()
			if next == nil {
				break
			}
			got = append(got, *next)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v becomes %v, want %v", c.sizes, got, c.want)
		}
	}
}

// Whatever is typed goes through, up to the key that leaves.
func TestLeavable(t *testing.T) {
	for typed, want := range map[string]string{
		"":                   "",
		"\x03\x04\x1a\x1b[A": "\x03\x04\x1a\x1b[A",
		"ls\n\x1dmore":       "ls\n",
		"\x1d":               "",
	} {
		left := 0
		got, err := io.ReadAll(Leavable(strings.NewReader(typed), func() { left++ }))
		if err != nil || string(got) != want || (left == 1) != strings.Contains(typed, "\x1d") {
			t.Errorf("%q: %q, left %d times, %v", typed, got, left, err)
		}
	}
}
