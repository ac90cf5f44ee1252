package pod

import (
	"bytes"
	"testing"
)

// The announcement of a shell is taken out, however it is cut into pieces, and only the
// first one; the rest is as it was.
func TestAnnounced(t *testing.T) {
	for text, c := range map[string]struct {
		want string
		pid  int
	}{
		"\x1b_berth-pid 42\x1b\\$ ":                               {"$ ", 42},
		"ls\r\n\x1b_berth-pid 42\x1b\\$ \x1b[6n":                  {"ls\r\n$ \x1b[6n", 42},
		"\x1b_berth-pid 42\x1b\\a\x1b_berth-pid 43\x1b\\":         {"a\x1b_berth-pid 43\x1b\\", 42},
		"\x1b[6n\x1b_berth":                                       {"\x1b[6n\x1b_berth", 0},
		"\x1b\x1b_berth-pid 7\x1b\\":                              {"\x1b", 7},
		"\x1b_berth-pid x\x1b\\$ ":                                {"\x1b_berth-pid x\x1b\\$ ", 0},
		"\x1b_berth-pid 0000000000000000000000000000000000000001": {"\x1b_berth-pid 0000000000000000000000000000000000000001", 0},
		"": {},
	} {
		for piece := 1; piece <= len(text)+1; piece++ {
			var out bytes.Buffer
			pids := []int(nil)
			a := &announced{out: &out, found: func(pid int) { pids = append(pids, pid) }}
			for rest := []byte(text); len(rest) > 0; {
				n := min(piece, len(rest))
				if wrote, err := a.Write(rest[:n]); wrote != n || err != nil {
					t.Fatal(wrote, err)
				}
				rest = rest[n:]
			}
			a.flush()
			if out.String() != c.want || len(pids) > 1 || c.pid != 0 && (len(pids) != 1 || pids[0] != c.pid) {
				t.Errorf("%q in pieces of %d is %q, %v", text, piece, &out, pids)
			}
		}
	}
}
