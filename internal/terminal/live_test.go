package terminal

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
)

// frames records when something was painted.
type frames struct {
	*vt
	at    []time.Time
	bytes []string
}

func (f *frames) Write(p []byte) (int, error) {
	f.at, f.bytes = append(f.at, time.Now()), append(f.bytes, string(p))
	return f.vt.Write(p)
}

// stage sets up a live view in a bubble of time that begins at t0.
func newStage(width, height int, caps Capabilities) (*frames, Renderer) {
	start := time.Now()
	f := &frames{vt: newVT(width, height)}
	out := Output{Writer: f, Capabilities: caps, Size: f.size}
	s := Streams{Err: out, Now: func() time.Time { return t0.Add(time.Since(start)) }}
	return f, Progress(s, ModeAuto, alice)
}

// play hands events over when they are due.
func play(r Renderer, events []v1.Event, until time.Duration) {
	at := time.Duration(0)
	for _, e := range events {
		due := e.At.Sub(t0)
		if due > until {
			break
		}
		time.Sleep(due - at)
		at = due
		r.Handle(e)
	}
	if at < until && until < time.Hour {
		time.Sleep(until - at)
	}
	synctest.Wait()
}

func strip(lines []string) string { return ansi.Strip(joinLines(lines)) }

func TestLiveLeavesTheWholeStory(t *testing.T) {
	for _, s := range []*script{succeeding(), imageNotFound(), crashLoop(), timedOut(), interrupted(), deleted(true), refused()} {
		for _, size := range [][2]int{{120, 50}, {60, 50}, {80, 5}, {80, 2}, {40, 3}} {
			synctest.Test(t, func(t *testing.T) {
				f, r := newStage(size[0], size[1], colourLook)
				play(r, s.through(), time.Hour)
				want := strip(screen(s, time.Hour, size[0], colourLook))
				if diff := cmp.Diff(want, f.text()); diff != "" {
					t.Errorf("%v: final screen (-want +got):\n%s", size, diff)
				}
				if f.hidden || len(f.unknown) > 0 || !r.Shown() {
					t.Errorf("%v: cursor hidden %v, unknown sequences %q, shown %v", size, f.hidden, f.unknown, r.Shown())
				}
			})
		}
	}
}

func TestLiveFramesAreCalm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(80, 50, colourLook)
		start := time.Now()
		play(r, succeeding().through(), time.Hour)
		if first := f.at[0].Sub(start); first < quietFor {
			t.Errorf("painted after %s, want nothing before %s", first, quietFor)
		}
		if len(f.at) < 100 {
			t.Errorf("only %d frames in 21 s: the spinner stands still", len(f.at))
		}
		for i, from := range f.at {
			n := 0
			for _, at := range f.at[i:] {
				if at.Sub(from) < time.Second && !at.Equal(from) || at.Equal(from) && n == 0 {
					n++
				}
			}
			if n > 10 {
				t.Fatalf("%d redraws in the second after %s", n, from.Sub(start))
			}
		}
		for i, frame := range f.bytes[:len(f.bytes)-1] {
			if !strings.HasPrefix(frame, beginSync) || !strings.HasSuffix(frame, endSync) {
				t.Fatalf("frame %d is not one synchronized write: %q", i, frame)
			}
		}
		if f.wrapped > 0 {
			t.Errorf("%d lines wrapped", f.wrapped)
		}
	})
}

// Only the line with the spinner is written again while nothing else changes.
func TestLiveRedrawsOnlyWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(80, 50, plainLook)
		s := opening()
		s.stage(300*ms, v1.StagePulling, v1.Snapshot{Message: "dev-tools:1.4", Containers: containers("done", "pulling")})
		play(r, s.through(), 2*sc)
		last := f.bytes[len(f.bytes)-1]
		if !strings.Contains(last, "Pulling") || strings.Contains(last, "init-base") || strings.Contains(last, "install") {
			t.Errorf("last frame is %q, want the line with the spinner alone", last)
		}
		r.Stop()
	})
}

func TestLiveWritesNothingWhereNothingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(80, 50, plainLook)
		play(r, opening().through(), sc)
		n := len(f.bytes)
		time.Sleep(sc)
		synctest.Wait()
		if len(f.bytes) != n {
			t.Errorf("%d writes while nothing happened", len(f.bytes)-n)
		}
		r.Stop()
	})
}

func TestLiveErasesWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(80, 50, plainLook)
		s := opening()
		cause := &v1.Cause{Code: "Unschedulable", Message: "no room"}
		s.stage(300*ms, v1.StageScheduling, v1.Snapshot{Cause: cause, Warnings: []v1.Warning{unschedulable(1, 0)}})
		s.stage(1*sc, v1.StageScheduling, v1.Snapshot{})
		play(r, s.through(), 900*ms)
		if !strings.Contains(f.text(), "no room") {
			t.Errorf("no cause:\n%s", f.text())
		}
		r.Handle(s.events[len(s.events)-1])
		time.Sleep(sc)
		synctest.Wait()
		if text := f.text(); strings.Contains(text, "no room") || strings.Contains(text, "FailedScheduling") {
			t.Errorf("what has passed is still there:\n%s", text)
		}
		r.Stop()
	})
}

func TestQuickCommandsStayQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(80, 50, plainLook)
		s := opening()
		w := workspace(v1.StageRunning, v1.Snapshot{})
		w.Timing = &v1.Timing{Seconds: 0.15}
		s.add(150*ms, v1.Event{Result: &v1.Result{Workspace: &w}})
		play(r, s.through()[:1], time.Hour)
		time.Sleep(150 * ms)
		r.Handle(s.events[len(s.events)-1])
		if want := "  ✔ Running in 0.15s\n\n    berth exec alice~dev\n"; f.text() != want {
			t.Errorf("got %q, want %q", f.text(), want)
		}
		if f.hidden {
			t.Error("the cursor is hidden")
		}
	})
}

func TestStopInTheMiddle(t *testing.T) {
	for _, at := range []time.Duration{0, 100 * ms, 6 * sc, 16 * sc} {
		synctest.Test(t, func(t *testing.T) {
			f, r := newStage(80, 50, colourLook)
			play(r, succeeding().through(), at)
			r.Stop()
			r.Stop()
			n := len(f.bytes)
			time.Sleep(sc)
			synctest.Wait()
			r.Handle(imageNotFound().events[len(imageNotFound().events)-1])
			if f.hidden || len(f.bytes) != n || r.Shown() {
				t.Errorf("after Stop at %s: hidden %v, %d more writes, shown %v", at, f.hidden, len(f.bytes)-n, r.Shown())
			}
			if at < quietFor {
				if f.text() != "" {
					t.Errorf("painted %q before %s", f.text(), quietFor)
				}
				return
			}
			golden(t, "stopped/"+at.String()+".txt", f.text())
		})
	}
}

func TestResizeWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(120, 50, plainLook)
		events := succeeding().through()
		play(r, events, 6*sc)
		f.resize(50)
		time.Sleep(sc)
		synctest.Wait()
		if f.wrapped > 0 {
			t.Errorf("%d lines wrapped after the resize", f.wrapped)
		}
		story := strip(screen(succeeding(), 7*sc, 50, plainLook))
		if got, want := lastLine(f.text()), lastLine(story); got != want {
			t.Errorf("last line after the resize is %q, want %q", got, want)
		}
		for _, line := range []string{"identity", "dev ← base", "install", " Scheduling", "FailedScheduling"} {
			if n := strings.Count(f.text(), line); n != 1 {
				t.Errorf("%q is %d times on the screen:\n%s", line, n, f.text())
			}
		}
		r.Stop()
	})
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return lines[len(lines)-1]
}
