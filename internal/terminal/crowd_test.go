package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
)

// member is a title of one of several.
func member(user, blueprint string) Title {
	return Title{UserString: user + "~" + blueprint, ID: fmt.Sprintf("%s-%07x", user, len(user)*7919), Namespace: "workspaces", Verb: "provision"}
}

// many plays several scripts on one stream, each after a while.
type many struct {
	batch  Batch
	events []v1.Event
	items  []v1.ProvisionItem
}

func (b *many) add(title Title, after time.Duration, s *script) {
	item := v1.ProvisionItem{UserString: title.UserString, ID: title.ID}
	for _, e := range s.events {
		e.At, e.Workspace = e.At.Add(after), title.ID
		if e.Result != nil {
			r := *e.Result
			item.Workspace, item.Error = r.Workspace, r.Error
			e.Outcome, e.Result = &r, nil
		}
		b.events = append(b.events, e)
	}
	b.batch.Members, b.items = append(b.batch.Members, title), append(b.items, item)
}

// end puts the events in order and adds the result.
func (b *many) end() *many {
	slices.SortStableFunc(b.events, func(x, y v1.Event) int { return x.At.Compare(y.At) })
	last := b.events[len(b.events)-1].At
	s := &v1.ProvisionSummary{TypeMeta: v1.Kind(v1.KindProvisionSummary), Items: b.items, Seconds: last.Sub(t0).Seconds()}
	for _, item := range b.items {
		if item.Error != nil {
			s.Failed++
			s.ExitStatus = max(3, item.Error.ExitStatus)
		}
	}
	s.Succeeded = len(b.items) - s.Failed
	b.events = append(b.events, v1.Event{TypeMeta: v1.Kind(v1.KindEvent), At: last, Result: &v1.Result{Summary: s}})
	for i := range b.events {
		b.events[i].Seq = uint64(i + 1)
	}
	return b
}

func (b *many) until(after time.Duration) *crowd {
	c := newCrowd(b.batch)
	for _, e := range b.events {
		if !e.At.After(t0.Add(after)) {
			c.handle(e)
		}
	}
	return c
}

func batchOf(parallel int) *many {
	return &many{batch: Batch{Namespace: "workspaces", Parallel: parallel, Again: "berth provision -f team.txt --if-not-exists"}}
}

// team are five, of whom two fail and one waits for a place first.
func team() *many {
	b := batchOf(3)
	b.add(member("alice", "dev"), 0, succeeding())
	b.add(member("bob", "typo"), 0, imageNotFound())
	b.add(member("carol-from-the-other-department", "data-science"), 0, crashLoop())
	b.add(member("dave", "dev"), 2300*ms, succeeding())
	b.add(member("erin", "dev"), 21400*ms, succeeding())
	return b.end()
}

// wave are n that succeed, and every tenth of them fails.
func wave(n, parallel int) *many {
	b := batchOf(parallel)
	for i := range n {
		s := succeeding()
		if i%10 == 9 {
			s = imageNotFound()
		}
		b.add(member(fmt.Sprintf("user-%03d", i), "dev"), time.Duration(i/parallel)*22*sc, s)
	}
	return b.end()
}

// broken are interrupted: one runs, two are no longer followed.
func broken() *many {
	b := batchOf(2)
	b.add(member("alice", "dev"), 0, succeeding())
	b.add(member("bob", "dev"), 11*sc, interrupted())
	s := &script{}
	s.add(0, v1.Event{Result: &v1.Result{Error: &v1.Error{TypeMeta: v1.Kind(v1.KindError), Code: "INTERRUPTED", ExitStatus: 130, Message: "interrupted: it was not begun"}}})
	b.add(member("carol", "dev"), 23*sc, s)
	return b.end()
}

// stranded meet a cluster that is out of reach, all of them alike.
func stranded() *many {
	b := batchOf(4)
	for _, user := range []string{"alice", "bob", "carol"} {
		s := &script{}
		s.step(0, "identity", v1.StepBegun, "", 0)
		s.step(300*ms, "identity", v1.StepFailed, "", 0.3)
		s.add(300*ms, v1.Event{Result: &v1.Result{Error: &v1.Error{
			TypeMeta: v1.Kind(v1.KindError), Code: "UNAVAILABLE", ExitStatus: 8, Message: "the cluster cannot be reached: connection refused", Hint: "is it up?",
		}}})
		b.add(member(user, "dev"), 0, s)
	}
	return b.end()
}

// screenful is the whole table as it stands at a moment.
func (b *many) screenful(at time.Duration, width, height int, look Capabilities) []string {
	c := b.until(at)
	v := view{width: width, height: height, now: t0.Add(at), frame: 2, st: newStyles(look)}
	if c.result != nil {
		return c.ending(v)
	}
	p := c.picture(v)
	return slices.Concat(p.final, p.live)
}

func TestBatchFrames(t *testing.T) {
	looks := []struct {
		name  string
		look  Capabilities
		width []int
	}{{"plain", plainLook, []int{40, 80, 120, 200}}, {"colour", colourLook, []int{80}}, {"ascii", asciiLook, []int{80}}}
	for _, l := range looks {
		for _, width := range l.width {
			t.Run(fmt.Sprintf("%s-%d", l.name, width), func(t *testing.T) {
				var b strings.Builder
				for _, at := range []time.Duration{20 * ms, 300 * ms, 6 * sc, 30 * sc, time.Hour} {
					fmt.Fprintf(&b, "--- %s\n%s", at, joinLines(team().screenful(at, width, 50, l.look)))
				}
				golden(t, fmt.Sprintf("batch/%s-%d.txt", l.name, width), visible(b.String()))
			})
		}
	}
}

func TestBatchEndings(t *testing.T) {
	all := batchOf(4)
	all.add(member("alice", "dev"), 0, succeeding())
	all.add(member("bob", "dev"), 0, succeeding())
	for name, b := range map[string]*many{"interrupted": broken(), "stranded": stranded(), "running": all.end()} {
		golden(t, "batch/"+name+".txt", joinLines(b.screenful(time.Hour, 100, 50, plainLook)))
	}
}

// Where not all rows fit, the unfinished are shown first, and the others counted.
func TestBatchFitsTheHeight(t *testing.T) {
	b := wave(60, 4)
	at := 9 * 22 * sc
	golden(t, "batch/folded.txt", joinLines(b.screenful(at, 80, 12, plainLook)))
	for height := 2; height < 70; height++ {
		c := b.until(at)
		p := c.picture(view{width: 80, height: height, now: t0.Add(at), st: newStyles(plainLook), headed: true})
		if len(p.live) >= height {
			t.Fatalf("%d lines in %d rows", len(p.live), height)
		}
		text := joinLines(p.live)
		folded := height <= 60+2
		if strings.Contains(text, " more: ") != (folded && height > 3) {
			t.Errorf("height %d: folded %v, but:\n%s", height, folded, text)
		}
		if height >= 8 {
			for i := 36; i < 40; i++ {
				if name := fmt.Sprintf("user-%03d", i); !strings.Contains(text, name) {
					t.Errorf("height %d: %s is at work and not shown:\n%s", height, name, text)
				}
			}
		}
	}
	// At the end, all of them stay.
	end := joinLines(b.screenful(time.Hour*2, 80, 12, plainLook))
	for i := range 60 {
		if name := fmt.Sprintf("user-%03d", i); !strings.Contains(end, name) {
			t.Errorf("%s is lost at the end", name)
		}
	}
}

func TestNoRowIsAsWideAsTheTerminal(t *testing.T) {
	for width := 1; width <= 210; width++ {
		for _, at := range []time.Duration{20 * ms, 6 * sc, 30 * sc} {
			for _, look := range []Capabilities{plainLook, colourLook, asciiLook} {
				for _, line := range team().screenful(at, width, 50, look) {
					if got := ansi.StringWidth(line); got >= width && got > 0 {
						t.Fatalf("width %d at %s: %d columns: %q", width, at, got, line)
					}
				}
			}
		}
	}
}

// Dated lines with IDs, and the causes and hints at the end.
func TestBatchTranscripts(t *testing.T) {
	for name, b := range map[string]*many{"team": team(), "interrupted": broken(), "stranded": stranded()} {
		stdout, stderr := b.told(ModePlain)
		if stdout != "" {
			t.Errorf("progress on stdout: %q", stdout)
		}
		golden(t, "batch/"+name+"-lines.txt", stderr)
		stdout, stderr = b.told(ModeJSONL)
		if stderr != "" {
			t.Errorf("on stderr: %q", stderr)
		}
		golden(t, "batch/"+name+".jsonl", stdout)
	}
}

func (b *many) told(mode Mode) (stdout, stderr string) {
	streams, buffers := Test("", t0)
	r := ProgressOfMany(streams, mode, b.batch)
	for _, e := range b.events {
		r.Handle(e)
	}
	r.Stop()
	return buffers.Out.String(), buffers.Err.String()
}

func TestSummaryAsDocument(t *testing.T) {
	doc := team().events[len(team().events)-1].Result.Summary
	if got := printed(t, "name", doc, 0, NoColour); strings.Count(got, "\n") != 3 {
		t.Errorf("the names of those that run are %q", got)
	}
	golden(t, "batch/summary.json", printed(t, "json", doc, 0, NoColour))
	if got := printed(t, "jsonpath={.kind} {.items}", &v1.ProvisionSummary{}, 0, NoColour); got != "ProvisionSummary []" {
		t.Errorf("nothing is %q", got)
	}
}
