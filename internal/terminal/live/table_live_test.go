package live

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func TestBatchLiveLeavesTheWholeStory(t *testing.T) {
	for name, b := range map[string]*terminaltest.Many{
		"team": terminaltest.Team(), "broken": terminaltest.Broken(),
		"stranded": terminaltest.Stranded(), "wave": wave(30, 8),
	} {
		for _, size := range [][2]int{{120, 80}, {60, 24}, {80, 6}, {80, 2}, {40, 3}} {
			synctest.Test(t, func(t *testing.T) {
				f, r := newBatchStage(b.Batch, size[0], size[1], terminaltest.ColourLook)
				terminaltest.Play(r, b.Events, time.Hour)
				want := strip(screenful(b, time.Hour, size[0], size[1], terminaltest.ColourLook))
				if diff := cmp.Diff(want, f.Text()); diff != "" {
					t.Errorf("%s in %v: final screen (-want +got):\n%s", name, size, diff)
				}
				if f.Hidden || len(f.Unknown) > 0 || f.Wrapped > 0 && size[0] >= 80 || !r.Shown() {
					t.Errorf("%s in %v: cursor hidden %v, %d wrapped, unknown %q, shown %v", name, size, f.Hidden,
						f.Wrapped, f.Unknown, r.Shown())
				}
			})
		}
	}
}

// Each frame is one synchronised write, ten a second at most, that turns the
// spinners and the times and touches nothing else.
func TestBatchFramesAreCalm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := terminaltest.Team()
		f, r := newBatchStage(b.Batch, 80, 50, terminaltest.PlainLook)
		terminaltest.Play(r, b.Events, 39*sc)
		second := map[time.Duration]int{}
		begun := f.At[0]
		for i, frame := range f.Writes {
			if !synchronised(frame) {
				t.Fatalf("frame %d is not one synchronised write: %q", i, frame)
			}
			at := f.At[i].Sub(begun).Truncate(sc)
			second[at]++
			if second[at] > 10 {
				t.Fatalf("more than 10 frames in the second after %s", at)
			}
		}
		if len(f.Writes) < 300 {
			t.Errorf("%d frames in 39 s: the spinners do not move", len(f.Writes))
		}
		last := f.Writes[len(f.Writes)-1]
		if !strings.Contains(last, "Pulling") || strings.Contains(last, "alice") || strings.Contains(last, "bob") {
			t.Errorf("the last frame is %q: want only the rows that are in progress", last)
		}
		if f.Wrapped > 0 {
			t.Errorf("%d lines wrapped", f.Wrapped)
		}
		r.Stop()
	})
}

// Leaving at once keeps every row as it is, and restores the cursor.
func TestBatchStopInTheMiddle(t *testing.T) {
	for _, height := range []int{50, 5} {
		synctest.Test(t, func(t *testing.T) {
			b := terminaltest.Team()
			f, r := newBatchStage(b.Batch, 80, height, terminaltest.ColourLook)
			terminaltest.Play(r, b.Events, 16*sc)
			r.Stop()
			r.Stop()
			n := len(f.Writes)
			r.Handle(b.Events[len(b.Events)-1])
			time.Sleep(sc)
			synctest.Wait()
			if f.Hidden || len(f.Writes) != n || r.Shown() {
				t.Errorf("hidden %v, %d more writes, shown %v", f.Hidden, len(f.Writes)-n, r.Shown())
			}
			goldentest.Check(t, "batch/stopped.txt", f.Text())
		})
	}
}

// A terminal that is made narrower, wider, lower and higher: nothing wraps, and
// nothing is there twice at the end.
func TestBatchResizeWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := terminaltest.Team()
		f, r := newBatchStage(b.Batch, 120, 50, terminaltest.PlainLook)
		at := time.Duration(0)
		next := 0
		for _, width := range []int{50, 200, 40, 100, 80} {
			at += 5 * sc
			for ; next < len(b.Events) && b.Events[next].At.Before(terminaltest.T0.Add(at)); next++ {
				r.Handle(b.Events[next])
			}
			f.Resize(width)
			time.Sleep(5 * sc)
			synctest.Wait()
			if f.Wrapped > 0 {
				t.Fatalf("%d lines wrapped in %d columns", f.Wrapped, width)
			}
			for _, user := range []string{"alice", "bob", "carol", "dave", "erin"} {
				if n := strings.Count(f.Text(), user); n != 1 {
					t.Fatalf("%s is %d times on the screen of %d columns:\n%s", user, n, width, f.Text())
				}
			}
		}
		for ; next < len(b.Events); next++ {
			r.Handle(b.Events[next])
		}
		if text := f.Text(); !strings.Contains(text, "3 of 5 running") || strings.Count(text, "5 workspaces in") != 1 {
			t.Errorf("at the end:\n%s", text)
		}
	})
}

// While an image is pulled for minutes, nothing happens but that the spinner
// turns and the seconds pass.
func TestALongPullIsAlive(t *testing.T) {
	s := terminaltest.Opening()
	s.Stage(300*ms, v1.StagePulling,
		v1.Snapshot{Message: "dev-tools:1.4", Containers: terminaltest.Containers("done", "pulling")})
	b := terminaltest.BatchOf(1)
	b.Add(terminaltest.Alice, 0, s)
	for name, open := range map[string]func() (*frames, *Live){
		"one":  func() (*frames, *Live) { return newStage(80, 24, terminaltest.PlainLook) },
		"many": func() (*frames, *Live) { return newBatchStage(b.Batch, 80, 24, terminaltest.PlainLook) },
	} {
		synctest.Test(t, func(t *testing.T) {
			f, r := open()
			terminaltest.Play(r, s.Events, sc)
			for range 600 {
				frame := len(f.Writes)
				before := f.Text()
				time.Sleep(sc)
				synctest.Wait()
				if n := len(f.Writes) - frame; n < 7 || n > 10 || f.Text() == before {
					t.Fatalf("%s: %d frames in a second of waiting", name, n)
				}
			}
			if text := f.Text(); !strings.Contains(text, "10m") || !strings.Contains(text, "Pulling") {
				t.Errorf("%s: after ten minutes:\n%s", name, text)
			}
			r.Stop()
		})
	}
}
