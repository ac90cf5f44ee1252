package terminal

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// hostile is what a pod, an image name or an annotation may try to smuggle in.
const hostile = "x\x1b[2J\x1b[9A\u009b2K\x1b]0;title\x07\r\u202e\ay"

func hostileWorkspace() *v1.Workspace {
	return &v1.Workspace{
		ID: hostile, Namespace: hostile, UserString: hostile, Owner: hostile, Blueprint: hostile, JobID: hostile,
		Snapshot: v1.Snapshot{
			Stage: v1.StageFailed, Message: hostile, Node: hostile,
			Containers: []v1.Container{{Name: hostile, Image: hostile, State: v1.ContainerFailed, Reason: hostile}},
			Warnings:   []v1.Warning{{Reason: hostile, Message: hostile, Object: "pod/a:" + hostile, Count: 2}},
			Cause:      &v1.Cause{Code: hostile, Message: hostile, Container: hostile, Object: hostile},
		},
	}
}

func hostileStory() []v1.Event {
	s := &script{}
	w := hostileWorkspace()
	s.step(0, hostile, v1.StepBegun, "", 0)
	s.step(300*ms, hostile, v1.StepFailed, hostile, 0)
	s.add(1*sc, v1.Event{Progress: &v1.Progress{Message: hostile}})
	waiting := w.Snapshot
	waiting.Cause = &v1.Cause{Code: hostile, Message: hostile + "!"}
	s.stage(2*sc, v1.StagePulling, waiting)
	s.add(4*sc, v1.Event{Result: &v1.Result{Error: &v1.Error{
		Code: "FAILED", Message: hostile, Hint: hostile, Problems: []string{hostile},
		Workspace: w, Logs: &v1.LogTail{Container: hostile, Lines: []string{hostile}},
	}}})
	return s.through()
}

// harmless fails if a text has anything in it that a terminal would obey.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	if text == "" {
		t.Errorf("%s: nothing was printed", what)
	}
	for _, bad := range []string{"\x1b", "\u009b", "\r", "\a", "\u202e", "title"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s: %q in %q", what, bad, text)
		}
	}
}

func TestTextFromElsewhereIsHarmless(t *testing.T) {
	title := Title{UserString: hostile, ID: hostile, Namespace: hostile, Verb: "provision"}
	harmless(t, "status", printed(t, "wide", hostileWorkspace(), 0, NoColour))
	harmless(t, "list", printed(t, "wide", &v1.WorkspaceList{Items: []v1.Workspace{*hostileWorkspace()}}, 200, NoColour))

	s, b := Test("", t0)
	r := Progress(s, ModePlain, title)
	for _, e := range hostileStory() {
		r.Handle(e)
	}
	harmless(t, "plain", b.Err.String())

	m, v := &model{title: title}, view{width: 100, height: 50, now: t0, st: newStyles(plainLook)}
	for _, e := range hostileStory() {
		m.handle(e)
		p := render(m, v)
		harmless(t, "live", joinLines(append(p.final, p.live...)))
	}
	harmless(t, "summary", joinLines(summary(m, v)))

	crowd := batchOf(1)
	crowd.add(Title{UserString: hostile, ID: "x", Verb: "provision"}, 0, &script{events: hostileStory()})
	for _, at := range []time.Duration{20 * ms, 1 * sc, 2 * sc, time.Hour} {
		harmless(t, "many", joinLines(crowd.screenful(at, 100, 50, plainLook)))
	}
	crowd.end()
	harmless(t, "summary of many", joinLines(crowd.screenful(time.Hour, 100, 50, plainLook)))
	_, lines := crowd.told(ModePlain)
	harmless(t, "lines of many", lines)

	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(100, 50, plainLook)
		play(r, hostileStory(), time.Hour)
		if len(f.unknown) > 0 {
			t.Errorf("sequences that are not the painter's: %q", f.unknown)
		}
	})
}
