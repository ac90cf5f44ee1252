package v1

import (
	"encoding/json"
	"testing"
	"time"
)

func TestComplete(t *testing.T) {
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	items := []ProvisionItem{
		{ID: "a", Workspace: &Workspace{ID: "a", CreatedAt: at}},
		{ID: "b", Error: &Error{Code: "FAILED"}},
	}
	summary := ProvisionSummary{Items: items}
	event := Event{At: at, Result: &Result{Summary: &summary}}
	got := Complete(event)
	for _, document := range []struct {
		name string
		TypeMeta
	}{
		{"Event", got.TypeMeta},
		{"ProvisionSummary", got.Result.Summary.TypeMeta},
		{"Workspace", got.Result.Summary.Items[0].Workspace.TypeMeta},
		{"Error", got.Result.Summary.Items[1].Error.TypeMeta},
	} {
		if document.Kind != document.name || document.APIVersion != "berth.dev/v1" {
			t.Errorf("%s is %+v", document.name, document.TypeMeta)
		}
	}
	if w := got.Result.Summary.Items[0].Workspace; w.ID != "a" || !w.CreatedAt.Equal(at) || !got.At.Equal(at) {
		t.Errorf("something is lost: %+v", w)
	}
	if items[0].Workspace.Kind != "" || summary.Kind != "" || event.Kind != "" {
		t.Error("the caller's documents are changed")
	}
}

// What is always there is there, also in a copy that is reached by an interface.
func TestCompleteLists(t *testing.T) {
	var printed any = &Diagnosis{}
	text, err := json.Marshal(Complete(printed))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got["kind"] != "Diagnosis" || got["warnings"] == nil || got["timeline"] == nil || got["containers"] != nil ||
		got["cause"] != nil {
		t.Errorf("%s", text)
	}
}
