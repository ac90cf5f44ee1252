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

func TestLiveLeavesTheWholeStory(t *testing.T) {
	for _, s := range []*terminaltest.Script{
		terminaltest.Succeeding(), terminaltest.ImageNotFound(),
		terminaltest.CrashLoop(), terminaltest.TimedOut(), terminaltest.Interrupted(), terminaltest.Deleted(true),
		terminaltest.Refused(),
	} {
		for _, size := range [][2]int{{120, 50}, {60, 50}, {80, 5}, {80, 2}, {40, 3}} {
			synctest.Test(t, func(t *testing.T) {
				f, r := newStage(size[0], size[1], terminaltest.ColourLook)
				terminaltest.Play(r, s.Events, time.Hour)
				want := strip(screen(s, time.Hour, size[0], terminaltest.ColourLook))
				if diff := cmp.Diff(want, f.Text()); diff != "" {
					t.Errorf("%v: final screen (-want +got):\n%s", size, diff)
				}
				if f.Hidden || len(f.Unknown) > 0 || !r.Shown() {
					t.Errorf("%v: cursor hidden %v, unknown sequences %q, shown %v", size, f.Hidden, f.Unknown,
						r.Shown())
				}
			})
		}
	}
}

func TestLiveFramesAreCalm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(80, 50, terminaltest.ColourLook)
		start := time.Now()
		terminaltest.Play(r, terminaltest.Succeeding().Events, time.Hour)
		if first := f.At[0].Sub(start); first < quietFor {
			t.Errorf("painted after %s, want nothing before %s", first, quietFor)
		}
		if len(f.At) < 100 {
			t.Errorf("only %d frames in 21 s: the spinner does not move", len(f.At))
		}
		for i, from := range f.At {
			n := 0
			for _, at := range f.At[i:] {
				if at.Sub(from) < time.Second && !at.Equal(from) || at.Equal(from) && n == 0 {
					n++
				}
			}
			if n > 10 {
				t.Fatalf("%d redraws in the second after %s", n, from.Sub(start))
			}
		}
		for i, frame := range f.Writes[:len(f.Writes)-1] {
			if !synchronised(frame) {
				t.Fatalf("frame %d is not one synchronized write: %q", i, frame)
			}
		}
		if f.Wrapped > 0 {
			t.Errorf("%d lines wrapped", f.Wrapped)
		}
	})
}

// Only the line with the spinner is written again while nothing else changes.
func TestLiveRedrawsOnlyWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(80, 50, terminaltest.PlainLook)
		s := terminaltest.Opening()
		s.Stage(300*ms, v1.StagePulling,
			v1.Snapshot{Message: "dev-tools:1.4", Containers: terminaltest.Containers("done", "pulling")})
		terminaltest.Play(r, s.Events, 2*sc)
		last := f.Writes[len(f.Writes)-1]
		if !strings.Contains(last, "Pulling") || strings.Contains(last, "init-base") ||
			strings.Contains(last, "install") {
			t.Errorf("last frame is %q, want the line with the spinner alone", last)
		}
		r.Stop()
	})
}

func TestLiveWritesNothingWhereNothingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(80, 50, terminaltest.PlainLook)
		terminaltest.Play(r, terminaltest.Opening().Events, sc)
		n := len(f.Writes)
		time.Sleep(sc)
		synctest.Wait()
		if len(f.Writes) != n {
			t.Errorf("%d writes while nothing happened", len(f.Writes)-n)
		}
		r.Stop()
	})
}

func TestLiveErasesWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(80, 50, terminaltest.PlainLook)
		s := terminaltest.Opening()
		cause := &v1.Cause{Code: "Unschedulable", Message: "no room"}
		s.Stage(300*ms, v1.StageScheduling,
			v1.Snapshot{Cause: cause, Warnings: []v1.Warning{terminaltest.Unschedulable(1, 0)}})
		s.Stage(1*sc, v1.StageScheduling, v1.Snapshot{})
		terminaltest.Play(r, s.Events, 900*ms)
		if !strings.Contains(f.Text(), "no room") {
			t.Errorf("no cause:\n%s", f.Text())
		}
		r.Handle(s.Events[len(s.Events)-1])
		time.Sleep(sc)
		synctest.Wait()
		if text := f.Text(); strings.Contains(text, "no room") || strings.Contains(text, "FailedScheduling") {
			t.Errorf("what has passed is still there:\n%s", text)
		}
		r.Stop()
	})
}

func TestQuickCommandsStayQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(80, 50, terminaltest.PlainLook)
		s := terminaltest.Opening()
		w := terminaltest.Workspace(v1.StageRunning, v1.Snapshot{})
		w.Timing = &v1.Timing{Seconds: 0.15}
		s.Add(150*ms, v1.Event{Result: &v1.Result{Workspace: &w}})
		terminaltest.Play(r, s.Events[:1], time.Hour)
		time.Sleep(150 * ms)
		r.Handle(s.Events[len(s.Events)-1])
		if want := "  ✔ Running in 0.15s\n\n    berth exec alice~dev\n"; f.Text() != want {
			t.Errorf("got %q, want %q", f.Text(), want)
		}
		if f.Hidden {
			t.Error("the cursor is hidden")
		}
	})
}

func TestStopInTheMiddle(t *testing.T) {
	for _, at := range []time.Duration{0, 100 * ms, 6 * sc, 16 * sc} {
		synctest.Test(t, func(t *testing.T) {
			f, r := newStage(80, 50, terminaltest.ColourLook)
			terminaltest.Play(r, terminaltest.Succeeding().Events, at)
			r.Stop()
			r.Stop()
			n := len(f.Writes)
			time.Sleep(sc)
			synctest.Wait()
			r.Handle(terminaltest.ImageNotFound().Events[len(terminaltest.ImageNotFound().Events)-1])
			if f.Hidden || len(f.Writes) != n || r.Shown() {
				t.Errorf("after Stop at %s: hidden %v, %d more writes, shown %v", at, f.Hidden, len(f.Writes)-n,
					r.Shown())
			}
			if at < quietFor {
				if f.Text() != "" {
					t.Errorf("painted %q before %s", f.Text(), quietFor)
				}
				return
			}
			goldentest.Check(t, "stopped/"+at.String()+".txt", f.Text())
		})
	}
}

func TestResizeWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(120, 50, terminaltest.PlainLook)
		events := terminaltest.Succeeding().Events
		terminaltest.Play(r, events, 6*sc)
		f.Resize(50)
		time.Sleep(sc)
		synctest.Wait()
		if f.Wrapped > 0 {
			t.Errorf("%d lines wrapped after the resize", f.Wrapped)
		}
		story := strip(screen(terminaltest.Succeeding(), 7*sc, 50, terminaltest.PlainLook))
		if got, want := lastLine(f.Text()), lastLine(story); got != want {
			t.Errorf("last line after the resize is %q, want %q", got, want)
		}
		for _, line := range []string{"identity", "dev ← base", "install", " Scheduling", "FailedScheduling"} {
			if n := strings.Count(f.Text(), line); n != 1 {
				t.Errorf("%q is %d times on the screen:\n%s", line, n, f.Text())
			}
		}
		r.Stop()
	})
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return lines[len(lines)-1]
}
