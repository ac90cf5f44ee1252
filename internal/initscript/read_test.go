package initscript

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// However a log is cut into pieces, each begin and each end is reported, and what a script says now and
// then; a long line does not hide the words at its end, and nothing is read after the last.
func TestFeed(t *testing.T) {
	log := "workspace: starting\nworkspace: init script 1/2 one started\na\nb\nc\n" + strings.Repeat("x", 3*maxLine) +
		"workspace: init script 1/2 one ended with status 0\nworkspace: init script 2/2 two skipped\nworkspace: ready\n"
	for _, size := range []int{1, 7, len(log)} {
		synctest.Test(t, func(t *testing.T) {
			var got []string
			f := &feed{object: "pod/a:main", report: func(s v1.Script) {
				got = append(got, fmt.Sprintf("%s %s %s", s.Name, s.State, strings.Join(s.Lines, "")))
			}}
			ctx, stop := context.WithCancel(t.Context())
			var group sync.WaitGroup
			group.Go(func() { f.tick(ctx) })
			var err error
			for at := 0; at < len(log); at += size {
				if at == len(log)/2/size*size {
					time.Sleep(2 * outputEvery)
				}
				if _, err = f.Write([]byte(log[at:min(at+size, len(log))])); err != nil {
					break
				}
			}
			stop()
			group.Wait()
			want := "one running , one running c, one done , two skipped "
			if size == len(log) {
				want = "one running , one done , two skipped "
			}
			if !errors.Is(err, errRead) || strings.Join(got, ", ") != want {
				t.Errorf("in pieces of %d: %q, %v", size, got, err)
			}
		})
	}
}

// A log without an end is not read for ever.
func TestFeedIsBounded(t *testing.T) {
	f := &feed{report: func(v1.Script) {}, left: 100}
	for range 10 {
		if _, err := f.Write(make([]byte, 30)); err != nil {
			if f.left > 0 {
				t.Errorf("%d bytes are left", f.left)
			}
			return
		}
	}
	t.Error("it is read to the end")
}
