package terminal

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

func TestStatusWithEvents(t *testing.T) {
	w := WithEvents()
	w.Workload = "deployment/web"
	w.Replicas = []v1.Replica{{Name: "web-1", Stage: v1.StageFailed, Message: "exit code 1", Node: "node-1"}, {Name: "web-2", Stage: v1.StageRunning, Node: "node-2"}}
	Golden(t, "status/events-pipe.txt", printed(t, "text", &w, 0, NoColour))
	Golden(t, "status/events-80.txt", printed(t, "text", &w, 80, NoColour))
	Golden(t, "status/events.json", printed(t, "json", &w, 0, NoColour))
}

func TestListLooks(t *testing.T) {
	s, b := Test("", Now)
	if err := PrintList(s, format(t, "text"), Fleet(), List{Namespaces: true}); err != nil {
		t.Fatal(err)
	}
	if err := PrintList(s, format(t, "text"), Fleet(), List{NoHeaders: true}); err != nil {
		t.Fatal(err)
	}
	Golden(t, "status/looks.txt", b.Out.String())
}
