package terminal

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
)

// newBatchStage sets up a live view of several in a bubble of time.
func newBatchStage(b Batch, width, height int, caps Capabilities) (*frames, Renderer) {
	start := time.Now()
	f := &frames{vt: newVT(width, height)}
	out := Output{Writer: f, Capabilities: caps, Size: f.size}
	s := Streams{Err: out, Now: func() time.Time { return t0.Add(time.Since(start)) }}
	return f, ProgressOfMany(s, ModeAuto, b)
}

func TestBatchLiveLeavesTheWholeStory(t *testing.T) {
	for name, b := range map[string]*many{"team": team(), "broken": broken(), "stranded": stranded(), "wave": wave(30, 8)} {
		for _, size := range [][2]int{{120, 80}, {60, 24}, {80, 6}, {80, 2}, {40, 3}} {
			synctest.Test(t, func(t *testing.T) {
				f, r := newBatchStage(b.batch, size[0], size[1], colourLook)
				play(r, b.events, time.Hour)
				want := strip(b.screenful(time.Hour, size[0], size[1], colourLook))
				if diff := cmp.Diff(want, f.text()); diff != "" {
					t.Errorf("%s in %v: final screen (-want +got):\n%s", name, size, diff)
				}
				if f.hidden || len(f.unknown) > 0 || f.wrapped > 0 && size[0] >= 80 || !r.Shown() {
					t.Errorf("%s in %v: cursor hidden %v, %d wrapped, unknown %q, shown %v", name, size, f.hidden, f.wrapped, f.unknown, r.Shown())
				}
			})
		}
	}
}

// Each frame is one synchronised write, ten a second at most, that turns the
// spinners and the times and touches nothing else.
func TestBatchFramesAreCalm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := team()
		f, r := newBatchStage(b.batch, 80, 50, plainLook)
		play(r, b.events, 39*sc)
		second := map[time.Duration]int{}
		begun := f.at[0]
		for i, frame := range f.bytes {
			if !strings.HasPrefix(frame, beginSync) || !strings.HasSuffix(frame, endSync) {
				t.Fatalf("frame %d is not one synchronised write: %q", i, frame)
			}
			at := f.at[i].Sub(begun).Truncate(sc)
			second[at]++
			if second[at] > 10 {
				t.Fatalf("more than 10 frames in the second after %s", at)
			}
		}
		if len(f.bytes) < 300 {
			t.Errorf("%d frames in 39 s: the spinners stand still", len(f.bytes))
		}
		last := f.bytes[len(f.bytes)-1]
		if !strings.Contains(last, "Pulling") || strings.Contains(last, "alice") || strings.Contains(last, "bob") {
			t.Errorf("the last frame is %q: want what is at work, and not who is done", last)
		}
		if f.wrapped > 0 {
			t.Errorf("%d lines wrapped", f.wrapped)
		}
		r.Stop()
	})
}

// Whoever leaves at once finds every row as it stood, and the cursor.
func TestBatchStopInTheMiddle(t *testing.T) {
	for _, height := range []int{50, 5} {
		synctest.Test(t, func(t *testing.T) {
			b := team()
			f, r := newBatchStage(b.batch, 80, height, colourLook)
			play(r, b.events, 16*sc)
			r.Stop()
			r.Stop()
			n := len(f.bytes)
			r.Handle(b.events[len(b.events)-1])
			time.Sleep(sc)
			synctest.Wait()
			if f.hidden || len(f.bytes) != n || r.Shown() {
				t.Errorf("hidden %v, %d more writes, shown %v", f.hidden, len(f.bytes)-n, r.Shown())
			}
			golden(t, "batch/stopped.txt", f.text())
		})
	}
}

// A terminal that is made narrower, wider, lower and higher: nothing wraps, and
// nothing is there twice at the end.
func TestBatchResizeWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := team()
		f, r := newBatchStage(b.batch, 120, 50, plainLook)
		at := time.Duration(0)
		next := 0
		for _, width := range []int{50, 200, 40, 100, 80} {
			at += 5 * sc
			for ; next < len(b.events) && b.events[next].At.Before(t0.Add(at)); next++ {
				r.Handle(b.events[next])
			}
			f.resize(width)
			time.Sleep(5 * sc)
			synctest.Wait()
			if f.wrapped > 0 {
				t.Fatalf("%d lines wrapped in %d columns", f.wrapped, width)
			}
			for _, user := range []string{"alice", "bob", "carol", "dave", "erin"} {
				if n := strings.Count(f.text(), user); n != 1 {
					t.Fatalf("%s is %d times on the screen of %d columns:\n%s", user, n, width, f.text())
				}
			}
		}
		for ; next < len(b.events); next++ {
			r.Handle(b.events[next])
		}
		if text := f.text(); !strings.Contains(text, "3 of 5 running") || strings.Count(text, "5 workspaces in") != 1 {
			t.Errorf("at the end:\n%s", text)
		}
	})
}

// While an image is pulled for minutes, nothing happens but that the spinner
// turns and the seconds pass.
func TestALongPullIsAlive(t *testing.T) {
	s := opening()
	s.stage(300*ms, v1.StagePulling, v1.Snapshot{Message: "dev-tools:1.4", Containers: containers("done", "pulling")})
	b := batchOf(1)
	b.add(alice, 0, s)
	for name, open := range map[string]func() (*frames, Renderer){
		"one":  func() (*frames, Renderer) { return newStage(80, 24, plainLook) },
		"many": func() (*frames, Renderer) { return newBatchStage(b.batch, 80, 24, plainLook) },
	} {
		synctest.Test(t, func(t *testing.T) {
			f, r := open()
			play(r, s.through(), sc)
			for range 600 {
				frame := len(f.bytes)
				before := f.text()
				time.Sleep(sc)
				synctest.Wait()
				if n := len(f.bytes) - frame; n < 7 || n > 10 || f.text() == before {
					t.Fatalf("%s: %d frames in a second of waiting", name, n)
				}
			}
			if text := f.text(); !strings.Contains(text, "10m") || !strings.Contains(text, "Pulling") {
				t.Errorf("%s: after ten minutes:\n%s", name, text)
			}
			r.Stop()
		})
	}
}
