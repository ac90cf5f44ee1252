package job

import (
	"fmt"
	"slices"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// A record that grows does not change those that it was made of.
func TestRecordsShareNothing(t *testing.T) {
	before := fold(object(0, "Pulled", "in 1.5s", 1), stage(1, v1.StageStarting, ""))
	want := lines(before)
	for _, e := range []v1.Event{
		object(2, "Pulled", "in 2.5s", 1), stage(3, v1.StageRunning, ""),
		object(4, "Created", "", 1),
	} {
		entry, repeat, _ := entryOf(e)
		if after := before.add(entry, repeat); slices.Equal(lines(after), want) {
			t.Errorf("%+v is not added", e)
		}
	}
	if got := lines(before); !slices.Equal(got, want) {
		t.Errorf("it has become %q", got)
	}
}

// A run that takes over a job in NATS goes on keeping what is alike one by one.
func TestAfterApart(t *testing.T) {
	earlier, later := fold(warned(0, 1)), Record{ID: "x", apart: true}
	earlier.ID = "x"
	entry, repeat, _ := entryOf(warned(5, 2))
	later = later.add(entry, repeat)
	want := []string{
		"1 00 event|pod/alice-1|Warning|BackOff: back-off 10s",
		"2 05 event|pod/alice-1|Warning|BackOff: back-off 10s (x2)",
	}
	if got := lines(later.After(earlier)); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := later.After(Record{}); got.ID != "x" || len(got.Events) != 1 {
		t.Errorf("after none: %+v", got)
	}
}

// What the newer run knows of the workspace counts, and else what the earlier one knew; a cause is
// that of now.
func TestAfterKnowsTheWorkspace(t *testing.T) {
	earlier := Record{
		ID: "x", Blueprint: "old", Node: "old", Image: "old", Cause: "old", Username: "old",
		WorkspaceName: "old", UserString: "old",
	}
	for want, later := range map[string]Record{
		"[old old old  new new new]":        {},
		"[dev node-1 dev:1 it new new new]": {Blueprint: "dev", Node: "node-1", Image: "dev:1", Cause: "it"},
	} {
		later.ID, later.Username, later.WorkspaceName, later.UserString = "x", "new", "new", "new"
		got := later.After(earlier)
		if all := fmt.Sprint([]string{
			got.Blueprint, got.Node, got.Image, got.Cause, got.Username, got.WorkspaceName,
			got.UserString,
		}); all != want {
			t.Errorf("%s, want %s", all, want)
		}
	}
}
